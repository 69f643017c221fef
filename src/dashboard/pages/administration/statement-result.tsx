/** The last step of importing a bank statement: what became of each line. */
import { Button, Group, SimpleGrid, Stack } from '@mantine/core'
import { Link } from 'wouter'
import { Section } from '@/dashboard/components/section'
import { Stat } from '@/dashboard/components/stat'
import { formatCount } from '@/dashboard/format'
import type { Committed, Preview } from './admin-data'
import { StatementLines } from './statement-lines'
import { RESULT_WORDS } from './words'

type StatementResultProps = { preview: Preview; committed: Committed; restart(): void }

export function StatementResult({ preview, committed, restart }: StatementResultProps) {
  const results = new Map(committed.lines.map(({ line, result }) => [line, result]))
  const countOf = (wanted: string) => committed.lines.filter(({ result }) => result === wanted).length
  const lines = preview.lines.flatMap((line) => {
    const result = results.get(line.line)
    return result === undefined ? [] : [{ line, ...RESULT_WORDS[result] }]
  })
  return (
    <Stack gap="lg">
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="md">
        <Stat label="Credited" value={formatCount(countOf('credited'))} />
        <Stat label="Wait for approval" value={formatCount(countOf('awaiting_approval'))} />
        <Stat label="Kept for a decision" value={formatCount(countOf('kept'))} />
      </SimpleGrid>
      <Section
        title="Imported"
        description="Uploading the same statement again finds these lines imported."
        actions={
          <Group gap="sm">
            {countOf('awaiting_approval') > 0 && (
              <Button component={Link} href="/admin/approvals" variant="default">
                Approvals
              </Button>
            )}
            {countOf('kept') > 0 && (
              <Button component={Link} href="/admin/orders" variant="default">
                Payments to match
              </Button>
            )}
            <Button onClick={restart}>Import another</Button>
          </Group>
        }
        isFlush
      >
        <StatementLines lines={lines} />
      </Section>
    </Stack>
  )
}
