// entry.h makes rows of a table of kernels, with the types of their parameters,
// so that a launch with other arguments is refused before it runs.
#ifndef HECATE_ENTRY_H
#define HECATE_ENTRY_H

#include <cstddef>
#include <utility>

namespace hecate_shim {

// An Argument of a launch: a pointer or an integer.
union Argument {
  void *pointer;
  long long integer;
};

// letter names the type of a parameter: f, d, i and b for pointers to float,
// double, four-byte integers and bytes, h for one to what has two bytes, n for an integer, ? for any
// other.
template <typename T>
struct Letter {
  static constexpr char value = '?';
};
template <typename T>
struct Letter<T *> {
  static constexpr char value = sizeof(T) == 2 ? 'h' : '?';
};
template <>
struct Letter<float *> {
  static constexpr char value = 'f';
};
template <>
struct Letter<double *> {
  static constexpr char value = 'd';
};
template <>
struct Letter<int *> {
  static constexpr char value = 'i';
};
template <>
struct Letter<unsigned *> : Letter<int *> {};
template <>
struct Letter<unsigned char *> {
  static constexpr char value = 'b';
};
template <>
struct Letter<signed char *> : Letter<unsigned char *> {};
template <>
struct Letter<char *> : Letter<unsigned char *> {};
template <>
struct Letter<bool *> : Letter<unsigned char *> {};
template <typename T>
struct Letter<const T *> : Letter<T *> {};
template <>
struct Letter<int> {
  static constexpr char value = 'n';
};
template <>
struct Letter<unsigned> : Letter<int> {};
template <>
struct Letter<long> : Letter<int> {};
template <>
struct Letter<unsigned long> : Letter<int> {};
template <>
struct Letter<long long> : Letter<int> {};
template <>
struct Letter<unsigned long long> : Letter<int> {};

template <typename T>
struct Value {
  static T of(const Argument &a) { return T(a.integer); }
};
template <typename T>
struct Value<T *> {
  static T *of(const Argument &a) { return static_cast<T *>(a.pointer); }
};

// A Kernel is a row: how it is called, its parameters' letters, the most threads
// that a block may have, and whether none of them waits for another.
struct Kernel {
  const char *name;
  void (*call)(const Argument *);
  const char *letters;
  int threads;
  bool simple;
};

// enter adds a kernel to the table of the program.
void enter(const Kernel &k);

template <auto f>
struct Entry;
template <typename... P, void (*f)(P...)>
struct Entry<f> {
  static constexpr char letters[] = {Letter<P>::value..., 0};
  template <std::size_t... i>
  static void spread(const Argument *a, std::index_sequence<i...>) {
    f(Value<P>::of(a[i])...);
  }
  static void call(const Argument *a) { spread(a, std::index_sequence_for<P...>()); }
  Entry(const char *name, int threads, bool simple = false) { enter({name, call, letters, threads, simple}); }
};

}  // namespace hecate_shim

#endif  // HECATE_ENTRY_H
