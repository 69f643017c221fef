const MEDIA_TYPE_OF_EXTENSION: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
  ['heic', 'image/heic'],
  ['pdf', 'application/pdf'],
  ['txt', 'text/plain'],
  ['mp3', 'audio/mpeg'],
  ['wav', 'audio/wav'],
  ['mp4', 'video/mp4'],
  ['mpeg', 'video/mpeg'],
  ['mov', 'video/quicktime'],
  ['webm', 'video/webm'],
  ['avi', 'video/x-msvideo'],
])

/** Pages whose video providers of the format accept. */
const VIDEO_PAGE = /^https?:\/\/(?:(?:www|m)\.)?(?:youtube\.com|youtu\.be)\//i

/** Guesses a media type from a URL, for parts that don't state one. */
export function guessMediaType(url: string): string | undefined {
  if (VIDEO_PAGE.test(url)) return 'video/mp4'
  const path = url.split(/[?#]/, 1)[0] ?? ''
  return MEDIA_TYPE_OF_EXTENSION.get(path.slice(path.lastIndexOf('.') + 1).toLowerCase())
}
