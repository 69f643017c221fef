/** How an error names the field at fault, in the requests of every format. */

/** A JSON pointer as a caller writes the place: `/messages/3/content` as `messages[3].content`; `prefix` is where it starts. */
export function fieldAt(pointer: string, prefix = ''): string {
  let path = prefix
  for (const escaped of pointer.split('/').slice(1)) {
    const segment = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
    if (/^\d+$/.test(segment)) path += `[${segment}]`
    else path += path === '' ? segment : `.${segment}`
  }
  return path
}
