/** The second step of a bank statement's import: the effect of each line, and the commit button. */
import { Alert, Button, Chip, Group, SimpleGrid, Stack } from '@mantine/core'
import { useState } from 'react'
import { Money } from '@/dashboard/components/money'
import { Section } from '@/dashboard/components/section'
import { Stat } from '@/dashboard/components/stat'
import { formatCount, formatMoney } from '@/dashboard/format'
import { administer } from '@/people/client'
import { adminChanged, type Committed, type Preview, type PreviewLine } from './admin-data'
import { openReasonDialog } from './reason-dialog'
import { StatementLines } from './statement-lines'
import { VERDICT_WORDS } from './words'

type StatementPreviewProps = { preview: Preview; back(): void; onCommitted(committed: Committed): void }

type Verdict = PreviewLine['verdict']

export function StatementPreview({ preview, back, onCommitted }: StatementPreviewProps) {
  const [chosen, setChosen] = useState<'all' | Verdict>('all')
  const keptCount = preview.lines.filter(({ isKept }) => isKept).length
  const lines = preview.lines.filter(({ verdict }) => chosen === 'all' || verdict === chosen)
  const isUseful = preview.creditCount + keptCount > 0
  return (
    <Stack gap="lg">
      <SimpleGrid cols={{ base: 1, xs: 3 }} spacing="md">
        <Stat
          label="Will be credited"
          value={<Money usd={preview.creditTotal} />}
          hint={`${formatCount(preview.creditCount)} of ${formatCount(preview.lines.length)} lines`}
        />
        <Stat label="Kept for a decision" value={formatCount(keptCount)} hint="Name an order they don't fit" />
        <Stat
          label="Left alone"
          value={formatCount(preview.lines.length - preview.creditCount - keptCount)}
          hint="Name no order, or imported before"
        />
      </SimpleGrid>
      {!isUseful && (
        <Alert color="blue" title="Nothing to import">
          No line of this statement names an order that it could be matched to, or all were imported before.
        </Alert>
      )}
      <Section
        title="Preview"
        description="Nothing has been credited yet. Amounts above the limit wait for a second administrator."
        actions={
          <Group gap="sm">
            <Button variant="default" onClick={back}>
              Back
            </Button>
            <Button disabled={!isUseful} onClick={() => openCommit(preview, keptCount, onCommitted)}>
              Import
            </Button>
          </Group>
        }
        isFlush
      >
        <Kinds lines={preview.lines} chosen={chosen} choose={setChosen} />
        <StatementLines key={chosen} lines={lines.map((line) => ({ line, ...VERDICT_WORDS[line.verdict] }))} />
      </Section>
    </Stack>
  )
}

type KindsProps = { lines: readonly PreviewLine[]; chosen: 'all' | Verdict; choose(verdict: 'all' | Verdict): void }

function Kinds({ lines, chosen, choose }: KindsProps) {
  const counts = new Map<Verdict, number>()
  for (const { verdict } of lines) counts.set(verdict, (counts.get(verdict) ?? 0) + 1)
  return (
    <Chip.Group multiple={false} value={chosen} onChange={(value) => choose(value as 'all' | Verdict)}>
      <Group gap="xs" px="lg" pb="md" role="group" aria-label="Which lines">
        <Chip value="all" size="xs" variant="outline">
          All {formatCount(lines.length)}
        </Chip>
        {[...counts].map(([verdict, count]) => (
          <Chip key={verdict} value={verdict} size="xs" variant="outline">
            {VERDICT_WORDS[verdict].label} {formatCount(count)}
          </Chip>
        ))}
      </Group>
    </Chip.Group>
  )
}

function openCommit(preview: Preview, keptCount: number, onCommitted: StatementPreviewProps['onCommitted']): void {
  const kept = keptCount > 0 ? ` ${formatCount(keptCount)} payments that don't fit are kept for a decision.` : ''
  openReasonDialog({
    title: 'Import statement',
    body: `${formatCount(preview.creditCount)} orders are credited with ${formatMoney(preview.creditTotal)} in all.${kept}`,
    action: 'Import',
    label: 'Reason',
    done: 'The statement was imported.',
    async run(reason) {
      const { importId, digest } = preview
      onCommitted(await administer('POST /statements/:importId/commit', { importId, digest, reason }))
      await adminChanged()
    },
  })
}
