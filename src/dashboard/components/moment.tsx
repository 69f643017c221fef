import { formatMoment, formatRelative } from '@/dashboard/format'

/** A time in the viewer's zone or relative to now; the other form is its tooltip. `at` is ISO 8601; null is shown as `never`. */
export function Moment({
  at,
  isRelative = false,
  hasSeconds = false,
  never = 'Never',
}: {
  at: string | null
  isRelative?: boolean
  /** Shows seconds, for lists with many entries per minute. */
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
