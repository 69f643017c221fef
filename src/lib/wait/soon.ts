/** Values that are usually available at once, and sometimes as a promise, so that awaiting is rarely needed. */

/** A value or a promise. `soon instanceof Promise ? await soon : soon` needs no tick for a plain value. */
export type Soon<T> = T | Promise<T>
