/** The part of the providers' page that shows how models answered for tiers, so that one sees whether a tier chooses well. */
import { Table, Text } from '@mantine/core'
import { IconArrowsSplit2 } from '@tabler/icons-react'
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
      <Table.ScrollContainer minWidth={640} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table verticalSpacing="xs" horizontalSpacing="lg">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Tier</Table.Th>
              <Table.Th>Model</Table.Th>
              <Table.Th ta="right">Observed</Table.Th>
              <Table.Th ta="right">Answers</Table.Th>
              <Table.Th ta="right">Cut by length</Table.Th>
              <Table.Th ta="right">Asked again</Table.Th>
              <Table.Th ta="right">Tokens each</Table.Th>
              <Table.Th ta="right">Thumbs up / down</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {observed.map((row) => (
              <Row key={`${row.tier} ${row.model}`} row={row} share={shares.get(row.tier)} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Text size="xs" c="dimmed" px="lg" pb="lg">
        The last {formatCount(days)} days, UTC.
      </Text>
    </>
  )
}

function Row({ row, share }: { row: TierReport['observed'][number]; share: number | undefined }) {
  const figures = {
    share: share === undefined ? '–' : percent(share),
    answers: formatCount(row.answers),
    cut: `${formatCount(row.cutByLength)} ${partOf(row.cutByLength, row.answers)}`,
    retries: `${formatCount(row.retries)} ${partOf(row.retries, row.answers)}`,
    tokens: row.answers === 0 ? '–' : formatCount(Math.round(row.outputTokens / row.answers)),
    thumbs: `${formatCount(row.thumbsUp)} / ${formatCount(row.thumbsDown)}`,
  }
  return (
    <Table.Tr>
      <Table.Td className="wrap-anywhere">{row.tier}</Table.Td>
      <Table.Td className="wrap-anywhere">{row.model}</Table.Td>
      {Object.entries(figures).map(([column, figure]) => (
        <Table.Td key={column} ta="right" className="figures">
          {figure}
        </Table.Td>
      ))}
    </Table.Tr>
  )
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`
}

function partOf(some: number, all: number): string {
  return all === 0 ? '' : `(${percent(some / all)})`
}
