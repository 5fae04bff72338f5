/* SPDX-License-Identifier: BSD-3-Clause */
/* Included after the user's file: the kernel's parameters, and a call of it with any arguments. */
#ifndef XGEMM_CUDA_LAUNCH_H
#define XGEMM_CUDA_LAUNCH_H

#include <utility>

namespace xg
{

#define XG_UNSEEN __attribute__((no_sanitize("thread")))

template <class T> constexpr char kind_of()
{
    typedef typename std::remove_cv<T>::type U;
    return std::is_void<U>::value || std::is_class<U>::value ? 'v'
           : std::is_pointer<U>::value                       ? 'p'
           : std::is_floating_point<U>::value                ? 'f'
           : std::is_unsigned<U>::value                      ? 'u'
                                                             : 'i';
}

template <class T, class = void> struct parameter {
    static_assert(std::is_constructible<T, float>::value,
                  "this parameter of the kernel is neither a pointer nor a number; the simulator "
                  "cannot be given such an argument");
    static constexpr xg_parameter value = {'f', 'v', (int)sizeof(T)};
    XG_INLINE_MEMBER static T take(const xg_value &v)
    {
        return T((float)v.real);
    }
};
template <class T> struct size_of {
    static constexpr int value = sizeof(T);
};
template <> struct size_of<void> {
    static constexpr int value = 0;
};
template <> struct size_of<const void> {
    static constexpr int value = 0;
};
template <class T> struct parameter<T *, void> {
    typedef typename std::remove_all_extents<T>::type element; /* of a pointer to rows, too */
    static constexpr xg_parameter value = {'p', kind_of<element>(), size_of<element>::value};
    XG_INLINE_MEMBER static T *take(const xg_value &v)
    {
        return (T *)v.pointer;
    }
};
template <class T>
struct parameter<T, typename std::enable_if<std::is_floating_point<T>::value>::type> {
    static constexpr xg_parameter value = {'f', 'v', (int)sizeof(T)};
    XG_INLINE_MEMBER static T take(const xg_value &v)
    {
        return (T)v.real;
    }
};
template <class T>
struct parameter<
    T, typename std::enable_if<std::is_integral<T>::value || std::is_enum<T>::value>::type> {
    static constexpr xg_parameter value = {kind_of<T>(), 'v', (int)sizeof(T)};
    XG_INLINE_MEMBER static T take(const xg_value &v)
    {
        return (T)v.integer;
    }
};

XG_INLINE xg_value value_at(const xg_value *values, size_t i)
{
    xg_value one;
    xg_copy(&one, values + i, sizeof one);
    return one;
}

template <class... P, size_t... I>
XG_UNSEEN void call(void (*kernel)(P...), const xg_value *values, std::index_sequence<I...>)
{
    kernel(parameter<P>::take(value_at(values, I))...);
    (void)values;
}
template <class... P> XG_UNSEEN void launch(void (*kernel)(P...), const xg_value *values)
{
    call(kernel, values, std::index_sequence_for<P...>());
}
/* Their number; those that there is room for are written. */
template <class... P> int parameters(void (*)(P...), xg_parameter *to, int room)
{
    const xg_parameter all[] = {parameter<P>::value..., {'v', 'v', 0}};
    for (int i = 0; i < (int)sizeof...(P) && i < room; i++)
        to[i] = all[i];
    return (int)sizeof...(P);
}

} // namespace xg

#define XG_LAUNCH(...)                                                                             \
    extern "C" __attribute__((visibility("default"), used)) XG_UNSEEN void xg_entry(               \
        const void *values)                                                                        \
    {                                                                                              \
        xg::launch(&__VA_ARGS__, (const xg_value *)values);                                        \
    }                                                                                              \
    extern "C" __attribute__((visibility("default"), used)) int xg_parameters(xg_parameter *to,    \
                                                                              int room)            \
    {                                                                                              \
        return xg::parameters(&__VA_ARGS__, to, room);                                             \
    }

#endif
