/** A time on a page, in the viewer's time zone or relative to now; the other form is in its tooltip. */
import { formatMoment, formatRelative } from '@/dashboard/format'

/** `at` is ISO 8601; null is shown as `never`. */
export function Moment({
  at,
  isRelative = false,
  hasSeconds = false,
  never = 'Never',
}: {
  at: string | null
  isRelative?: boolean
  /** For lists with many entries per minute. */
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
