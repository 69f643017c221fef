/** Labels of billing rules, flags, and the kinds of tokens and units in a charge. */

const RULES: Readonly<Record<string, string>> = {
  usage: "Provider's count",
  counted: 'Our count',
  cut_usage: "Cut at the limit, provider's count",
  cut_counted: 'Cut at the limit, our count',
  broken_usage: "Broken off, provider's count",
  broken_counted: 'Broken off, our count',
  disconnect_usage: "Client left, provider's count",
  disconnect_counted: 'Client left, our count',
  hangup_free: 'Client left at once, free',
  hangup_input: 'Client left at once, input',
  expired: 'Gateway stopped',
}

const FLAGS: Readonly<Record<string, string>> = {
  estimated: 'estimated',
  clamped: 'capped',
  overrun: 'above reservation',
  late: 'correction',
  expired: 'reservation expired',
  forced: 'reservation lost',
}

const CLASSES: Readonly<Record<string, string>> = {
  input: 'Input',
  cacheRead: 'Input, read from cache',
  cacheWrite5m: 'Input, written to cache (5 minutes)',
  cacheWrite1h: 'Input, written to cache (1 hour)',
  output: 'Output',
  input_text: 'Input',
  input_image: 'Input, pictures',
  input_audio: 'Input, sound',
  output_image: 'Output, pictures',
  output_audio: 'Output, sound',
  request: 'Request',
}

const STATUSES: Readonly<Record<number, string>> = {
  200: 'OK',
  499: 'Client went away',
  500: 'Internal error',
  502: 'Provider failed',
  503: 'Unavailable',
  504: 'Provider too slow',
}

/** The label of a billing rule. */
export function ruleLabel(rule: string): string {
  return RULES[rule] ?? rule
}

/** The label of a flag. */
export function flagLabel(flag: string): string {
  return FLAGS[flag] ?? flag
}

const UNITS: Readonly<Record<string, string>> = {
  image: 'images',
  second: 'seconds',
  character: 'characters',
  search_unit: 'searches',
}

/** The label of a line of a charge, such as `Output, pictures: images (hd)`. */
export function lineLabel({ class: name, unit, variant }: { class: string; unit: string; variant?: string }): string {
  const label = CLASSES[name] ?? name
  const units = UNITS[unit] === undefined ? label : `${label}: ${UNITS[unit]}`
  return variant === undefined ? units : `${units} (${variant})`
}

/** The label of an HTTP status. */
export function statusLabel(status: number): string {
  return STATUSES[status] ?? `Status ${status}`
}
