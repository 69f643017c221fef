/** The part of the providers' page that shows how models answered for tiers, so that one sees whether a tier chooses well. */
import { Text } from '@mantine/core'
import { IconArrowsSplit2 } from '@tabler/icons-react'
import { DataTable, FIGURES } from '@/dashboard/components/lists/data-table'
import { Section } from '@/dashboard/components/section'
import { EmptyState } from '@/dashboard/components/states/empty-state'
import { Loaded } from '@/dashboard/components/states/loaded'
import { formatCount } from '@/dashboard/format'
import { type TierReport, useTierReport } from '@/dashboard/pages/administration/admin-data'

export function TierSection() {
  const report = useTierReport()
  return (
    <Section
      title="Answers of tiers"
      description="Counted for a share of each tier's requests, by all gateways. Feedback is counted for every request."
      isFlush
    >
      <Loaded query={report}>{(data) => <Answers report={data} />}</Loaded>
    </Section>
  )
}

function Answers({ report: { days, tiers, observed } }: { report: TierReport }) {
  const shares = new Map(tiers.map(({ tier, share }) => [tier, share]))
  if (observed.length === 0) {
    return (
      <EmptyState icon={IconArrowsSplit2} title="Nothing observed yet">
        Answers of tiers appear here within seconds. The catalogue says what share of a tier is looked at (`observe`).
      </EmptyState>
    )
  }
  return (
    <>
      <DataTable
        items={observed}
        keyOf={({ tier, model }) => `${tier} ${model}`}
        minWidth={640}
        verticalSpacing="xs"
        columns={[
          { title: 'Tier', className: 'wrap-anywhere', cell: ({ tier }) => tier },
          { title: 'Model', className: 'wrap-anywhere', cell: ({ model }) => model },
          { title: 'Observed', ...FIGURES, cell: ({ tier }) => percent(shares.get(tier)) },
          { title: 'Answers', ...FIGURES, cell: ({ answers }) => formatCount(answers) },
          { title: 'Cut by length', ...FIGURES, cell: (row) => partOf(row.cutByLength, row.answers) },
          { title: 'Asked again', ...FIGURES, cell: (row) => partOf(row.retries, row.answers) },
          { title: 'Tokens each', ...FIGURES, cell: tokensEach },
          { title: 'Thumbs up / down', ...FIGURES, cell: thumbs },
        ]}
      />
      <Text size="xs" c="dimmed" px="lg" pb="lg">
        The last {formatCount(days)} days, UTC.
      </Text>
    </>
  )
}

type Observed = TierReport['observed'][number]

function tokensEach({ outputTokens, answers }: Observed): string {
  return answers === 0 ? '–' : formatCount(Math.round(outputTokens / answers))
}

function thumbs({ thumbsUp, thumbsDown }: Observed): string {
  return `${formatCount(thumbsUp)} / ${formatCount(thumbsDown)}`
}

function percent(share: number | undefined): string {
  return share === undefined ? '–' : `${Math.round(share * 1000) / 10} %`
}

function partOf(some: number, all: number): string {
  return `${formatCount(some)} ${all === 0 ? '' : `(${percent(some / all)})`}`
}
