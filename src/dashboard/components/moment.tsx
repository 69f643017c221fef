/** A moment on a page, in the viewer's zone or as how long ago it was; the other one is in the title. */
import { formatMoment, formatRelative } from '@/dashboard/format'

/** `at` is ISO 8601; null reads as "Never" unless `never` says otherwise. */
export function Moment({
  at,
  isRelative = false,
  hasSeconds = false,
  never = 'Never',
}: {
  at: string | null
  isRelative?: boolean
  /** In lists where many things happen in a minute. */
  hasSeconds?: boolean
  never?: string
}) {
  if (at === null) return <span>{never}</span>
  const [shown, title] = isRelative ? [formatRelative(at), formatMoment(at)] : [formatMoment(at, { hasSeconds }), at]
  return (
    <time dateTime={at} title={title}>
      {shown}
    </time>
  )
}
