// The Python module: one entry, which looks at the arrays, joins their shapes, divides, and returns quotients or
// exceptions.

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <structmember.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstring>

#include "nest.hpp"
#include "pool.hpp"

namespace vinculum {
namespace {

// Of vinculum.kernels: the class of exceptions, and the function that tells how many threads may divide.
PyObject* exceptions_class;
PyObject* get_threads;

const char* const ELEMENT_NAMES[ELEMENTS] = {
    "int8",    "uint8",    "int16",   "uint16",  "int32", "uint32", "int64",         "uint64",
    "float16", "bfloat16", "float32", "float64", "int4",  "uint4",  "float8_e4m3fn", "float8_e5m2",
};
constexpr std::uint8_t ITEM_SIZES[ELEMENTS] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 1, 1, 1, 1};

// The dividends of reciprocals: each element type's one, in the low bytes.
const std::uint64_t ONES[ELEMENTS] = {
    1, 1, 1, 1, 1, 1, 1, 1, 0x3C00, 0x3F80, 0x3F800000, 0x3FF0000000000000, 1, 1, 0x38, 0x3C,
};

char* one_of(Element element) {
    const int above = std::endian::native == std::endian::big ? 8 - ITEM_SIZES[int(element)] : 0;
    return (char*)&ONES[int(element)] + above;
}

// Returns the element that a built-in NumPy type stores, -1 if none.
int element_of_builtin(int type) {
    constexpr int NONE = -1;
    const auto integer = [](std::size_t size, bool is_unsigned) {
        const int width = size == 1 ? 0 : size == 2 ? 2 : size == 4 ? 4 : 6;
        return width + is_unsigned;
    };
    switch (type) {
    case NPY_BYTE: return integer(1, false);
    case NPY_UBYTE: return integer(1, true);
    case NPY_SHORT: return integer(sizeof(short), false);
    case NPY_USHORT: return integer(sizeof(short), true);
    case NPY_INT: return integer(sizeof(int), false);
    case NPY_UINT: return integer(sizeof(int), true);
    case NPY_LONG: return integer(sizeof(long), false);
    case NPY_ULONG: return integer(sizeof(long), true);
    case NPY_LONGLONG: return integer(sizeof(long long), false);
    case NPY_ULONGLONG: return integer(sizeof(long long), true);
    case NPY_HALF: return int(Element::float16);
    case NPY_FLOAT: return int(Element::float32);
    case NPY_DOUBLE: return int(Element::float64);
    default: return NONE;
    }
}

struct Division {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Kernel kernels[ELEMENTS]; // null where an element is not divided
    int types[ELEMENTS];      // of ml_dtypes, by element; -1 where there is none
    bool reciprocal, broadcasts;
    bool raises_zero_divisors, saturates_zero_divisors, raises_overflows, saturates_overflows;

    int element_of(int type) const {
        if (type < NPY_USERDEF) return element_of_builtin(type);
        for (int element = 0; element < ELEMENTS; element++)
            if (types[element] == type) return element;
        return -1;
    }
};

// A reference that is given back. Before Python 3.14 a daemon thread that wants to go on when Python has ended is
// unwound by pthread_exit, destructors and all; without the interpreter there is nothing to give back to then.
class Reference {
  public:
    explicit Reference(void* object = nullptr) : object_((PyObject*)object) {}
    Reference(const Reference&) = delete;
    Reference& operator=(const Reference&) = delete;
    ~Reference() {
        if (object_ != nullptr && PyGILState_Check()) Py_DECREF(object_);
    }
    void reset(void* object) {
        Py_XDECREF(object_);
        object_ = (PyObject*)object;
    }
    PyObject* get() const { return object_; }
    PyArrayObject* array() const { return (PyArrayObject*)object_; }
    PyObject* release() {
        PyObject* object = object_;
        object_ = nullptr;
        return object;
    }

  private:
    PyObject* object_;
};

Layout layout_of(PyArrayObject* array) {
    return {PyArray_BYTES(array), PyArray_NDIM(array), PyArray_DIMS(array), PyArray_STRIDES(array)};
}

struct Operand {
    Reference made; // of a scalar: the array that was made of it
    PyArrayObject* array;
    Element element;
    Layout layout;

    // Looks at an operand; returns false if it is none.
    bool look_at(const Division& division, PyObject* object) {
        if (PyArray_CheckExact(object)) {
            array = (PyArrayObject*)object;
        } else if (PyArray_IsScalar(object, Generic)) {
            made.reset(PyArray_FromScalar(object, nullptr));
            array = made.array();
            if (array == nullptr) {
                PyErr_Clear();
                return false;
            }
        } else {
            return false;
        }
        const int found = division.element_of(PyArray_TYPE(array));
        if (found < 0 || division.kernels[found] == nullptr) return false;
        element = Element(found);
        layout = layout_of(array);
        return true;
    }
    bool is_swapped() const { return PyArray_ISBYTESWAPPED(array); }
};

PyArrayObject* new_array(PyArrayObject* like, const Joined& joined, const Order& order, std::intptr_t item_size) {
    PyArray_Descr* type = PyArray_DESCR(like);
    if (PyArray_ISBYTESWAPPED(like)) type = PyArray_DescrFromType(PyArray_TYPE(like));
    else Py_INCREF(type);
    npy_intp strides[MOST_DIMENSIONS];
    if (!order.row_major) order.new_strides(joined, item_size, strides);
    return (PyArrayObject*)PyArray_NewFromDescr(&PyArray_Type, type, joined.rank, (npy_intp*)joined.shape,
                                                order.row_major ? nullptr : strides, nullptr, 0, nullptr);
}

// Whether an array can hold the quotients.
bool is_result(const Division& division, PyObject* object, Element element, const Joined& joined) {
    if (!PyArray_CheckExact(object)) return false;
    PyArrayObject* array = (PyArrayObject*)object;
    return division.element_of(PyArray_TYPE(array)) == int(element) && !PyArray_ISBYTESWAPPED(array) &&
           PyArray_ISWRITEABLE(array) && PyArray_NDIM(array) == joined.rank &&
           std::equal(joined.shape, joined.shape + joined.rank, PyArray_DIMS(array)) &&
           is_nested(joined.rank, joined.shape, PyArray_STRIDES(array), ITEM_SIZES[int(element)]);
}

PyObject* index_of(std::int64_t position, std::int64_t count, const Joined& joined) {
    if (count == 0) Py_RETURN_NONE;
    PyObject* index = PyTuple_New(joined.rank);
    for (int d = joined.rank - 1; index != nullptr && d >= 0; d--) {
        PyTuple_SET_ITEM(index, d, PyLong_FromLongLong(position % joined.shape[d]));
        position /= joined.shape[d];
    }
    return index;
}

PyObject* exceptions_of(const Task& task, std::int64_t elements, const Joined& joined) {
    const Exceptions& found = task.exceptions;
    const std::int64_t zero_divisors = found.zero_divisors, overflows = found.overflows;
    const Reference first_zero_divisor(index_of(found.first_zero_divisor, zero_divisors, joined));
    const Reference first_overflow(index_of(found.first_overflow, overflows, joined));
    if (first_zero_divisor.get() == nullptr || first_overflow.get() == nullptr) return nullptr;
    return PyObject_CallFunction(exceptions_class, "LLOLO", (long long)elements, (long long)zero_divisors,
                                 first_zero_divisor.get(), (long long)overflows, first_overflow.get());
}

// Whether two arrays lie in the same memory, element by element.
bool is_same(const Joined& joined, const char* x, const std::intptr_t* x_strides, const char* y,
             const std::intptr_t* y_strides) {
    if (x != y) return false;
    for (int d = 0; d < joined.rank; d++)
        if (joined.shape[d] > 1 && x_strides[d] != y_strides[d]) return false;
    return true;
}

bool is_integer(Element element) {
    return element <= Element::uint64 || element == Element::int4 || element == Element::uint4;
}

// Blocks of floats that are divided without help, which costs about as long as one of them takes.
constexpr std::int64_t FEW_BLOCKS = 3;

// Blocks of 32 MiB of quotients, after which it is looked how much time has passed.
constexpr std::int64_t SLICE = (1 << 25) / BLOCK;
// How long signals may wait.
constexpr std::chrono::milliseconds PATIENCE(200);

// Divides without the interpreter's lock. Returns whether no signal's handler raised an exception meanwhile, as
// Ctrl-C's does; else part of the quotients is missing.
bool divide_unlocked(Task& task, int helpers) {
    auto looked = std::chrono::steady_clock::now();
    PyThreadState* state = PyEval_SaveThread();
    for (std::int64_t first = 0; first < task.blocks; first += SLICE) {
        const std::int64_t end = std::min(first + SLICE, task.blocks);
        task.claims.offer(first, end, helpers + 1);
        vinculum::divide(task, helpers);
        if (end == task.blocks || std::chrono::steady_clock::now() - looked < PATIENCE) continue;
        PyEval_RestoreThread(state);
        if (PyErr_CheckSignals() < 0) return false;
        looked = std::chrono::steady_clock::now();
        state = PyEval_SaveThread();
    }
    PyEval_RestoreThread(state);
    return true;
}

PyObject* divide(const Division& division, PyObject* first, PyObject* second, PyObject* out) {
    Operand dividend, divisor;
    if (!divisor.look_at(division, division.reciprocal ? first : second)) Py_RETURN_NONE;
    const Element element = divisor.element;
    const std::intptr_t item_size = ITEM_SIZES[int(element)];
    if (division.reciprocal) {
        if (second != Py_None) Py_RETURN_NONE;
        dividend.layout = {one_of(element), 0, nullptr, nullptr};
        dividend.array = divisor.array;
    } else if (!dividend.look_at(division, first) || dividend.element != element) {
        Py_RETURN_NONE;
    }
    Joined joined;
    if (!joined.join(dividend.layout, divisor.layout, division.broadcasts || division.reciprocal)) Py_RETURN_NONE;
    const std::int64_t elements = joined.elements(item_size);
    if (elements < 0) Py_RETURN_NONE;
    if (out != Py_None && !is_result(division, out, element, joined)) Py_RETURN_NONE;

    // Where quotients are written: the result, or memory that is copied to it, if writing would change operands.
    Order order;
    Reference result;
    PyArrayObject* target;
    Memory memory = Memory::fresh;
    bool copies = false;
    const Extent a(dividend.layout.data, joined.rank, joined.shape, joined.a, item_size);
    const Extent b(divisor.layout.data, joined.rank, joined.shape, joined.b, item_size);
    if (out == Py_None) {
        order.by_operands(joined);
        result.reset(new_array(dividend.array, joined, order, item_size));
        target = result.array();
        if (target == nullptr) return nullptr;
    } else {
        Py_INCREF(out);
        result.reset(out);
        target = (PyArrayObject*)out;
        const char* data = PyArray_BYTES(target);
        const npy_intp* strides = PyArray_STRIDES(target);
        memory = Memory::given;
        if (elements > 0) {
            const Extent c(data, joined.rank, joined.shape, strides, item_size);
            const bool is_a = is_same(joined, data, strides, dividend.layout.data, joined.a);
            const bool is_b = is_same(joined, data, strides, divisor.layout.data, joined.b);
            if (is_a || is_b) memory = Memory::operand;
            copies = (c.overlaps(a) && !is_a) || (c.overlaps(b) && !is_b);
        }
        order.by_strides(joined.rank, joined.shape, strides);
    }
    if (elements == 0) return result.release();
    Reference copied;
    if (copies) {
        memory = Memory::fresh;
        copied.reset(new_array(dividend.array, joined, order, item_size));
        target = copied.array();
        if (target == nullptr) return nullptr;
    }

    Task task;
    task.kernel = division.kernels[int(element)];
    task.a = dividend.layout.data;
    task.b = divisor.layout.data;
    task.c = PyArray_BYTES(target);
    task.swapped = !division.reciprocal && dividend.is_swapped() ? DIVIDENDS : NONE;
    if (divisor.is_swapped()) task.swapped |= DIVISORS;
    task.settled =
        division.raises_overflows || division.saturates_overflows ? ZERO_DIVISORS | OVERFLOWS : ZERO_DIVISORS;
    task.saturate_zero_divisors = division.saturates_zero_divisors;
    task.saturate_overflows = division.saturates_overflows;
    write_nest(task, joined, PyArray_STRIDES(target), order, item_size);
    cut_into_blocks(task, item_size, memory, is_integer(element));

    if (elements * item_size <= BLOCK && a.bytes() <= BLOCK && b.bytes() <= BLOCK) {
        task.claims.offer(0, task.blocks, 1);
        vinculum::divide(task, 0);
    } else {
        long threads = 1;
        const bool is_quick = !is_integer(element) && item_size > 1;
        if (task.blocks > (is_quick ? FEW_BLOCKS : 1)) {
            const Reference allowed(PyObject_CallNoArgs(get_threads));
            threads = allowed.get() == nullptr ? -1 : PyLong_AsLong(allowed.get());
            if (threads < 0) return nullptr;
            if (threads > task.blocks) threads = long(task.blocks);
        }
        if (!divide_unlocked(task, int(threads) - 1)) return nullptr;
    }

    if ((division.raises_zero_divisors && task.exceptions.zero_divisors > 0) ||
        (division.raises_overflows && task.exceptions.overflows > 0))
        return exceptions_of(task, elements, joined);
    if (copies && PyArray_CopyInto(result.array(), copied.array()) < 0) return nullptr;
    return result.release();
}

PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t count, PyObject* names) {
    if (PyVectorcall_NARGS(count) != 3 || names != nullptr) {
        PyErr_SetString(PyExc_TypeError, "a division takes a dividend, a divisor and a result or None");
        return nullptr;
    }
    return divide(*(const Division*)self, arguments[0], arguments[1], arguments[2]);
}

void deallocate(PyObject* self) {
    PyTypeObject* type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Division, vectorcall), READONLY, nullptr},
    {},
};
PyType_Slot slots[] = {
    {Py_tp_call, (void*)PyVectorcall_Call},
    {Py_tp_dealloc, (void*)deallocate},
    {Py_tp_members, members},
    {Py_tp_doc, (void*)"Divides arrays by one arithmetic: see vinculum.kernels.contract.Division."},
    {},
};
PyType_Spec spec = {
    "vinculum.kernels._core.Division",
    sizeof(Division),
    0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    slots,
};
PyTypeObject* division_type;

// Reads an attribute that is a truth value; false if that fails, with Python's error set.
bool read_flag(PyObject* object, const char* name, bool& flag) {
    const Reference value(PyObject_GetAttrString(object, name));
    const int truth = value.get() == nullptr ? -1 : PyObject_IsTrue(value.get());
    flag = truth > 0;
    return truth >= 0;
}

// Reads an attribute that is a policy.
bool read_policy(PyObject* object, const char* name, bool& raises, bool& saturates) {
    const Reference value(PyObject_GetAttrString(object, name));
    if (value.get() == nullptr) return false;
    raises = PyUnicode_CompareWithASCIIString(value.get(), "raise") == 0;
    saturates = PyUnicode_CompareWithASCIIString(value.get(), "saturate") == 0;
    return true;
}

bool read_types(PyObject* arithmetic, const Target& target, Operation operation, Division& division) {
    const Reference types(PyObject_GetAttrString(arithmetic, "dtypes"));
    const Reference sequence(types.get() == nullptr ? nullptr : PySequence_Fast(types.get(), "dtypes is no sequence"));
    if (sequence.get() == nullptr) return false;
    for (int element = 0; element < ELEMENTS; element++)
        division.kernels[element] = nullptr, division.types[element] = -1;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence.get()); i++) {
        PyObject* type = PySequence_Fast_GET_ITEM(sequence.get(), i);
        const Reference name(PyObject_GetAttrString(type, "name"));
        if (name.get() == nullptr) return false;
        int element = 0;
        while (element < ELEMENTS && PyUnicode_CompareWithASCIIString(name.get(), ELEMENT_NAMES[element])) element++;
        if (element == ELEMENTS || !PyArray_DescrCheck(type)) {
            PyErr_Format(PyExc_ValueError, "the core divides no %R", type);
            return false;
        }
        division.kernels[element] = target.kernel(Element(element), operation);
        const int number = ((PyArray_Descr*)type)->type_num;
        if (number >= NPY_USERDEF) division.types[element] = number;
    }
    return true;
}

const Target* find_target(const char* name) {
    int count;
    const Target* all = targets(count);
    for (int i = 0; i < count; i++)
        if (std::strcmp(all[i].name, name) == 0 && all[i].is_supported()) return &all[i];
    PyErr_Format(PyExc_ValueError, "this processor is not of the target %s", name);
    return nullptr;
}

PyObject* make_division(PyObject*, PyObject* arguments) {
    const char *target_name, *operation_name;
    PyObject* arithmetic;
    if (!PyArg_ParseTuple(arguments, "sOs", &target_name, &arithmetic, &operation_name)) return nullptr;
    const Target* target = find_target(target_name);
    if (target == nullptr) return nullptr;
    const Operation operation = std::strcmp(operation_name, "floor") == 0          ? Operation::floor
                                : std::strcmp(operation_name, "exclusive or") == 0 ? Operation::exclusive_or
                                                                                   : Operation::truncating;
    Reference made(PyObject_New(Division, division_type));
    if (made.get() == nullptr) return nullptr;
    Division& division = *(Division*)made.get();
    division.vectorcall = call;
    if (!read_types(arithmetic, *target, operation, division) ||
        !read_flag(arithmetic, "reciprocal", division.reciprocal) ||
        !read_flag(arithmetic, "broadcasts", division.broadcasts) ||
        !read_policy(arithmetic, "zero_divisor", division.raises_zero_divisors, division.saturates_zero_divisors) ||
        !read_policy(arithmetic, "overflow", division.raises_overflows, division.saturates_overflows))
        return nullptr;
    return made.release();
}

PyObject* list_targets(PyObject*, PyObject*) {
    int count;
    const Target* all = targets(count);
    Reference names(PyList_New(0));
    if (names.get() == nullptr) return nullptr;
    for (int i = 0; i < count; i++) {
        if (!all[i].is_supported()) continue;
        const Reference name(PyUnicode_FromString(all[i].name));
        if (name.get() == nullptr || PyList_Append(names.get(), name.get()) < 0) return nullptr;
    }
    return PyList_AsTuple(names.get());
}

PyMethodDef methods[] = {
    {"division", make_division, METH_VARARGS,
     "division(target, arithmetic, operation)\n--\n\nReturn the division of an arithmetic, by the kernels of a "
     "target."},
    {"targets", list_targets, METH_NOARGS,
     "targets()\n--\n\nReturn the names of the targets that this processor supports, the newest first."},
    {},
};

int execute(PyObject* module) {
    if (PyArray_ImportNumPyAPI() < 0) return -1;
    const Reference contract(PyImport_ImportModule("vinculum.kernels.contract"));
    const Reference threads(PyImport_ImportModule("vinculum.kernels.threads"));
    if (contract.get() == nullptr || threads.get() == nullptr) return -1;
    exceptions_class = PyObject_GetAttrString(contract.get(), "Exceptions");
    get_threads = PyObject_GetAttrString(threads.get(), "get_threads");
    division_type = (PyTypeObject*)PyType_FromModuleAndSpec(module, &spec, nullptr);
    return exceptions_class == nullptr || get_threads == nullptr || division_type == nullptr ? -1 : 0;
}

PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, (void*)execute},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {},
};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_core", "The compiled core.", 0, methods, module_slots, nullptr, nullptr, nullptr,
};

} // namespace
} // namespace vinculum

PyMODINIT_FUNC PyInit__core() { return PyModuleDef_Init(&vinculum::definition); }
