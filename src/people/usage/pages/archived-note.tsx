/** Notes that older records are archived, so that the end of a list is not mistaken for no usage. */
import { Alert, Anchor, Text } from '@mantine/core'
import { IconArchive } from '@tabler/icons-react'
import { Link } from 'wouter'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { formatDay } from '@/dashboard/format'

const STATEMENT_PATH = '/credit/statement'
/** Characters of a day, yyyy-mm-dd. */
const DAY_CHARS = 10

/** Shown above a list whose time range includes archived records; `before` is ISO 8601. */
export function ArchivedNote({ before }: { before: string }) {
  return (
    <Alert color="gray" icon={<IconArchive size={18} />}>
      <Text size="sm">
        Requests before <ArchiveEnd before={before} /> are archived: they are neither listed nor exported one by one.
        What they cost is in the figures of each day, and in the <StatementLink />.
      </Text>
    </Alert>
  )
}

/** Shown instead of an empty list whose time range includes archived records. */
export function NothingSince({ before }: { before: string }) {
  return (
    <EmptyState icon={IconArchive} title={`Archived before ${dayOf(before)}`}>
      No request from <ArchiveEnd before={before} /> on is in this list. Earlier ones are archived; the{' '}
      <StatementLink /> has the sums of each day.
    </EmptyState>
  )
}

/** The first day that is listed. Archived months end in UTC, wherever the reader is. */
export function ArchiveEnd({ before }: { before: string }) {
  return <time dateTime={before}>{dayOf(before)}</time>
}

function StatementLink() {
  return (
    <Anchor component={Link} href={STATEMENT_PATH} size="sm" underline="always">
      account statement
    </Anchor>
  )
}

function dayOf(before: string): string {
  return formatDay(before.slice(0, DAY_CHARS))
}
