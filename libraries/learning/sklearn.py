"""scikit-learn: fitted models, kernels, metrics and preprocessing."""

import numpy as np
from sklearn import linear_model, metrics, preprocessing
from sklearn.covariance import empirical_covariance, shrunk_covariance
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.gaussian_process import GaussianProcessRegressor, kernels
from sklearn.mixture import GaussianMixture
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline

from libraries.package import Package

package = Package("scikit-learn")

rng = np.random.default_rng(0)
X = rng.normal(size=(25, 2))
Y = np.sin(X[:, 0]) + 0.3 * X[:, 1]
CLASSES = (Y > 0).astype(int)
POINT = np.array([0.4, -0.7])

ridge = linear_model.Ridge(alpha=0.3).fit(X, Y)
logistic = linear_model.LogisticRegression().fit(X, CLASSES)
process = GaussianProcessRegressor(kernels.RBF(1.0) + kernels.WhiteKernel(0.1), optimizer=None).fit(X, Y)
network = MLPRegressor(hidden_layer_sizes=(5,), activation="tanh", max_iter=50, random_state=0).fit(X, Y)
mixture = GaussianMixture(2, random_state=0).fit(X)
pipeline = make_pipeline(preprocessing.StandardScaler(), PCA(2), linear_model.Ridge()).fit(X, Y)
bayes = GaussianNB().fit(X, CLASSES)
quadratic = QuadraticDiscriminantAnalysis().fit(X, CLASSES)
polynomial = preprocessing.PolynomialFeatures(3).fit(X)


@package.call(POINT)
def ridge_prediction(point):
    return ridge.predict(point.reshape(1, -1))[0]


@package.call(POINT)
def probability(point):
    return logistic.predict_proba([point])[0]


@package.call(POINT)
def mean_of_a_process(point):
    return process.predict(point[None, :])[0]


@package.call(POINT)
def deviation_of_a_process(point):
    _, deviation = process.predict(point[None, :], return_std=True)
    return deviation[0]


@package.call(np.array([0.1, -2.0]))
def evidence_of_a_process(theta):
    return process.log_marginal_likelihood(theta)


@package.call(POINT)
def small_network(point):
    return network.predict(point.reshape(1, 2))[0]


@package.call(POINT)
def density_of_a_mixture(point):
    return mixture.score_samples(point.reshape(1, 2))[0]


@package.call(POINT)
def through_a_pipeline(point):
    return pipeline.predict(point.reshape(1, 2))[0]


@package.call(POINT)
def naive_bayes(point):
    return bayes.predict_proba(point.reshape(1, 2))[0, 0]


@package.call(POINT)
def discriminant(point):
    return quadratic.decision_function(point.reshape(1, 2))[0]


@package.call(POINT)
def polynomial_features(point):
    return polynomial.transform(point.reshape(1, 2))[0]


@package.call(1.3, X[:4])
def kernel_matrix(length, points):
    kernel = kernels.ConstantKernel(2.0) * kernels.Matern(length_scale=length, nu=1.5)
    return kernel(points, X[4:7])


@package.call(X[:4])
def rbf(points):
    return metrics.pairwise.rbf_kernel(points, X[4:7], gamma=0.4)


@package.call(X[:4])
def cosine(points):
    return metrics.pairwise.cosine_similarity(points, X[4:7])


@package.call(Y[:8])
def errors(predicted):
    target = Y[:8] + 0.1 * np.arange(8)
    return metrics.mean_squared_error(target, predicted), metrics.r2_score(target, predicted)


@package.call(np.array([0.2, 0.7, 0.6, 0.1]))
def log_loss(probabilities):
    return metrics.log_loss([0, 1, 1, 0], probabilities)


@package.call(X[:6])
def scaled(points):
    return preprocessing.StandardScaler().fit_transform(points)


@package.call(X[:6])
def normalised(points):
    return preprocessing.normalize(points)


@package.call(X[:6])
def covariance(points):
    return empirical_covariance(points), shrunk_covariance(np.cov(points.T), 0.2)


@package.call(Y[:10])
def fitted_line(target):
    return linear_model.LinearRegression().fit(X[:10], target).coef_


@package.call(Y[:10])
def fitted_ridge(target):
    return linear_model.Ridge(alpha=0.5, solver="cholesky").fit(X[:10], target).predict(X[10:12])
