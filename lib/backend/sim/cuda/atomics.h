/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics: no two threads of the simulator run at once. One access each, which is told as one. */
#ifndef XGEMM_CUDA_ATOMICS_H
#define XGEMM_CUDA_ATOMICS_H

namespace xg
{
/* *at becomes what the function makes of it; what it was. */
template <class T, class F> XG_INLINE T update(T *at, F function)
{
    T old;
    xg_access((const void *)at, sizeof *at, XG_HOOK_ATOMIC, 0);
    xg_copy(&old, (const void *)at, sizeof old);
    T now = function(old);
    xg_copy((void *)at, &now, sizeof now);
    return old;
}
template <class T> struct same {
    typedef T type;
};
} // namespace xg

#define XG_ATOMIC(name, expression)                                                                \
    template <class T> XG_INLINE T name(T *at, typename xg::same<T>::type value)                   \
    {                                                                                              \
        return xg::update(                                                                         \
            at, [=](T old) __attribute__((always_inline))->T { return expression; });              \
    }                                                                                              \
    template <class T> XG_INLINE T name(volatile T *at, typename xg::same<T>::type value)          \
    {                                                                                              \
        return name((T *)at, value);                                                               \
    }                                                                                              \
    template <class T> XG_INLINE T name##_block(T *at, typename xg::same<T>::type value)           \
    {                                                                                              \
        return name(at, value);                                                                    \
    }                                                                                              \
    template <class T> XG_INLINE T name##_system(T *at, typename xg::same<T>::type value)          \
    {                                                                                              \
        return name(at, value);                                                                    \
    }
XG_ATOMIC(atomicAdd, (T)(old + value))
XG_ATOMIC(atomicSub, (T)(old - value))
XG_ATOMIC(atomicExch, value)
XG_ATOMIC(atomicMin, value < old ? value : old)
XG_ATOMIC(atomicMax, old < value ? value : old)
XG_ATOMIC(atomicAnd, (T)(old &value))
XG_ATOMIC(atomicOr, (T)(old | value))
XG_ATOMIC(atomicXor, (T)(old ^ value))
XG_ATOMIC(atomicInc, (T)(old >= value ? 0 : old + 1))
XG_ATOMIC(atomicDec, (T)(old == 0 || old > value ? value : old - 1))

template <class T>
XG_INLINE T atomicCAS(T *at, typename xg::same<T>::type expected, typename xg::same<T>::type value)
{
    return xg::update(
        at, [=](T old) __attribute__((always_inline))->T { return old == expected ? value : old; });
}
template <class T>
XG_INLINE T atomicCAS(volatile T *at, typename xg::same<T>::type expected,
                      typename xg::same<T>::type value)
{
    return atomicCAS((T *)at, expected, value);
}

#endif
