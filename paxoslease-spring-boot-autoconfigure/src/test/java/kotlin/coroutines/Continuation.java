package kotlin.coroutines;

/** Stands for the type of Kotlin that suspending functions take last; it is known by its name. */
public interface Continuation<T> {}
