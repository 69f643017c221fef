/** The words by which neighbours have the provider that they share do what they want of it. */

/** A request that holds this is limited. */
export const LIMITED_WORDS = 'more than a minute allows'
/** One that holds this is thought about at length, and the thoughts are signed, where the provider signs any. */
export const SIGNED_WORDS = 'think it over'
/** One that holds this has a long answer. */
export const LONG_WORDS = 'tell me everything'
/** One that holds this is answered after long, or in a stream that goes on for as long. */
export const SLOW_WORDS = 'take your time'
