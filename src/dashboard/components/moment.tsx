/** A moment on a page, in the viewer's zone or as how long ago it was; the other one is in the title. */
import { formatMoment, formatRelative } from '@/dashboard/format'

/** `at` is ISO 8601; null reads as "Never" unless `never` says otherwise. */
export function Moment({
  at,
  isRelative = false,
  never = 'Never',
}: {
  at: string | null
  isRelative?: boolean
  never?: string
}) {
  if (at === null) return <span>{never}</span>
  const [shown, title] = isRelative ? [formatRelative(at), formatMoment(at)] : [formatMoment(at), at]
  return (
    <time dateTime={at} title={title}>
      {shown}
    </time>
  )
}
