"""Calls of methods of arrays, and of NumPy's numbers."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["CALLS"]

_METHODS: dict[str, Sequence[str]] = {
    "T": ["{}.T"],
    "mT": ["A.mT"],
    "real": ["{}.real"],
    "imag": ["{}.imag"],
    "flat": ["list(v.flat)", "v.flat[1:3]"],
    "astype": ["{}.astype(float)", "{}.astype(np.float32)", "{}.astype(complex)"],
    "choose": ["np.array([0, 1]).choose([v[:2], u[:2]])"],
    "clip": ["{}.clip(0.3, 0.8)", "v.clip(u)", "v.clip(0.3, u)"],
    "compress": ["A.compress([True, False, True], axis=0)"],
    "diagonal": ["A.diagonal()", "A.diagonal(1)"],
    "dot": ["A.dot(B)", "v.dot(u)"],
    "fill": ["A.fill(v[0])"],
    "getfield": ["v.getfield(np.float64)", "{}.getfield(np.float64)"],
    "item": ["v.item(2)", "A.item(1, 2)"],
    "partition": ["v.partition(2)"],
    "put": ["A.put([0, 4], v[:2])"],
    "repeat": ["{}.repeat(2)", "A.repeat([1, 2, 1], axis=0)"],
    "reshape": ["A.reshape(9)", "A.reshape((9, 1))"],
    "resize": ["v.copy().resize(3)"],
    "searchsorted": ["np.cumsum(v).searchsorted(u)"],
    "setfield": ["A.setfield(v[:3], np.float64)"],
    "swapaxes": ["A.swapaxes(0, 1)"],
    "take": ["v.take([0, 2])", "A.take([0, 2], axis=1)"],
    "trace": ["A.trace()"],
    "transpose": ["{}.transpose()", "A.transpose(1, 0)"],
    "view": ["v.view()", "v.view(np.float64)"],
    "sort": ["v.sort()", "A.sort(axis=0)"],
    "argpartition": ["v.argpartition(2)"],
    "byteswap": ["v.byteswap().byteswap()"],
    "setflags": ["v.copy().setflags(write=False)"],
    "tobytes": ["v.tobytes()"],
    "dumps": ["len(v.dumps())"],
    "to_device": ["{}.to_device('cpu')"],
    "data": ["list(v.data)", "v.data.tolist()"],
    "flags": ["{}.flags.c_contiguous", "{}.flags['WRITEABLE']"],
    "__array_interface__": ["{}.__array_interface__['shape']"],
    "base": ["v[1:].base"],
    "__getitem__": [
        "A.__getitem__(1)",
        "A[::2, [0, 1]]",
        "A[None, ..., 1]",
        "A[A > 0]",
        "A[np.array([0, 2]), 1]",
        "v[-1]",
    ],
    "__setitem__": [
        "A.__setitem__(1, v[:3])",
        "A.__setitem__(A > 1, v[0])",
        "A.__setitem__((slice(None), 0), u[:3])",
    ],
    "__pow__": ["{}.__pow__(2)", "v.__pow__(u)"],
    "__rpow__": ["{}.__rpow__(2.0)"],
    "__ipow__": ["v.__ipow__(2)"],
    "__imatmul__": ["A.__imatmul__(B)"],
    "__matmul__": ["A.__matmul__(B)"],
    "__rmatmul__": ["A.__rmatmul__(B)"],
    "__float__": ["v[1].__float__()"],
    "__complex__": ["v[1:2].reshape(()).__complex__()"],
    "__int__": ["v[1].__int__()"],
    "__iter__": ["list(v.__iter__())"],
    "__contains__": ["v.__contains__(0.3)"],
    "__array__": ["{}.__array__()"],
    "__copy__": ["{}.__copy__()", "np.array([({}, 1.0)], dtype='d,d')[0].__copy__()['f0']"],
    "__deepcopy__": ["{}.__deepcopy__({{}})"],
    "__divmod__": ["v.__divmod__(0.3)"],
    "__rdivmod__": ["v.__rdivmod__(2.0)"],
    "__array_wrap__": ["v.__array_wrap__(u)"],
    "__format__": ["v[1].__format__('')", "{}.__format__('')"],
    "__delitem__": [],
    "ctypes": ["v.ctypes.shape[:]"],
    "__bool__": ["v[1].__bool__()"],
    "__len__": ["v.__len__()"],
    "__dlpack__": ["v.__dlpack__()"],
    "is_integer": ["{}.is_integer()"],
    "hex": ["{}.hex()"],
    "as_integer_ratio": ["{}.as_integer_ratio()"],
    "fromhex": [],
}
"""The text of a call by the name of a method; ``{}`` is the array, of any shape."""

for _name in ("and", "or", "xor", "lshift", "rshift"):
    _METHODS[f"__{_name}__"] = [f"np.array([6, 5]).__{_name}__(np.array([1, 2]))"]
    _METHODS[f"__r{_name}__"] = [f"np.array([6, 5]).__r{_name}__(2)"]
    _METHODS[f"__i{_name}__"] = [f"np.array([6, 5]).__i{_name}__(2)"]
_METHODS["__invert__"] = ["np.array([6, 5]).__invert__()"]

_NUMBERS = {name for name, texts in _METHODS.items() if any("{}" in text for text in texts)}

CALLS: dict[str, Sequence[str]] = {
    **{f"numpy.ndarray.{name}": [text.format("x") for text in texts] for name, texts in _METHODS.items()},
    **{
        f"numpy.float64.{name}": [text.format("np.float64(x)") for text in texts if "{}" in text]
        for name, texts in _METHODS.items()
        if name in _NUMBERS
    },
}
