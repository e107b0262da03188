// Placeholder: the module.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#include "pool.hpp"
#include "targets.hpp"

static PyObject* increment(PyObject*, PyObject* x) {
    return PyLong_FromLong(on_another_thread(choose().increment, int(PyLong_AsLong(x))));
}

static PyObject* target(PyObject*, PyObject*) { return PyUnicode_FromString(choose().name); }

static PyMethodDef methods[] = {
    {"increment", increment, METH_O, nullptr},
    {"target", target, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

static int execute(PyObject*) { return PyArray_ImportNumPyAPI(); }

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(execute)},
#if PY_VERSION_HEX >= 0x030c0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030d0000
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, nullptr},
};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_core", nullptr, 0, methods, slots, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit__core() { return PyModuleDef_Init(&definition); }
