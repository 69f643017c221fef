/** Names the faulty field as the caller does: `/messages/3/content` becomes `messages[3].content`, after `prefix`. */
export function fieldAt(pointer: string, prefix = ''): string {
  let path = prefix
  for (const escaped of pointer.split('/').slice(1)) {
    const segment = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
    if (/^\d+$/.test(segment)) path += `[${segment}]`
    else path += path === '' ? segment : `.${segment}`
  }
  return path
}
