package kotlinx.coroutines.flow;

/** Stands for Kotlin's stream, without what lets Spring adapt it; it is known by its name. */
public interface Flow<T> {}
