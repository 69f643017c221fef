/** The version of the messages protocol: the header that says it, and what providers are told where a caller says nothing. */

export const VERSION_HEADER = 'anthropic-version'

/** The last version that takes sampling parameters. */
export const DEFAULT_VERSION = '2023-06-01'
