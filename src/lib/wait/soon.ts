/** Values that are usually available at once, and sometimes as a promise, so that awaiting is rarely needed. */

/** A value or a promise. `soon instanceof Promise ? await soon : soon` needs no tick for a plain value. */
export type Soon<T> = T | Promise<T>

/** Continues with the value: at once, or when the promise resolves. */
export function whenThere<T, U>(soon: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return soon instanceof Promise ? soon.then(next) : next(soon)
}
