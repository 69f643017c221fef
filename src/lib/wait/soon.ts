/** Values that are usually there at once, and promises now and then: a value is not awaited. */

/** A value, or the promise of one. `soon instanceof Promise ? await soon : soon` takes no turn of the event loop where it is there. */
export type Soon<T> = T | Promise<T>

/** Goes on with the value: at once where it is there. */
export function whenThere<T, U>(soon: Soon<T>, next: (value: T) => Soon<U>): Soon<U> {
  return soon instanceof Promise ? soon.then(next) : next(soon)
}
