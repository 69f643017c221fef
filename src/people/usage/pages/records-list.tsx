/** The list of charged requests: a table, or cards on narrow screens. Each links to its usage record. */
import { Anchor, Box, Group, Table, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { Link } from 'wouter'
import { Heads } from '@/dashboard/components/lists/data-table'
import { Rows } from '@/dashboard/components/lists/rows'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { decimalsOf, formatCount, formatMoment } from '@/dashboard/format'
import { ModelNames, Outcome, Times, Tokens } from './record-cells'
import type { UsageItem } from './usage-data'

type RecordsListProps = {
  items: readonly UsageItem[]
  recordPath(requestId: string): string
}

/** From this width on, all columns fit. */
const WIDE = '(min-width: 75em)'

export function RecordsList(props: RecordsListProps) {
  const isWide = useMediaQuery(WIDE, true, { getInitialValueInEffect: false })
  return isWide ? <RecordsTable {...props} /> : <RecordCards {...props} />
}

const NO_WRAP = { whiteSpace: 'nowrap' } as const
const COLUMNS = [
  { title: 'Time' },
  { title: 'Model', w: '24%' },
  { title: 'Key' },
  { title: 'Outcome' },
  { title: 'Tokens', ta: 'right' },
  { title: 'Time taken', ta: 'right' },
  { title: 'Cost', ta: 'right' },
] as const

function RecordsTable({ items, recordPath }: RecordsListProps) {
  const decimals = decimalsOf(items.map(({ cost }) => cost))
  return (
    <Table verticalSpacing="xs" horizontalSpacing="lg" highlightOnHover>
      <Heads columns={COLUMNS} />
      <Table.Tbody>
        {items.map((item) => (
          <Table.Tr key={item.recordId}>
            <Table.Td>
              <RecordLink item={item} path={recordPath(item.requestId)} />
            </Table.Td>
            <Table.Td>
              <ModelNames item={item} />
            </Table.Td>
            <Table.Td className="wrap-anywhere">{item.keyName ?? item.keyId}</Table.Td>
            <Table.Td>
              <Outcome item={item} />
            </Table.Td>
            <Table.Td ta="right">
              <Tokens item={item} />
            </Table.Td>
            <Table.Td ta="right">
              <Times item={item} />
            </Table.Td>
            <Table.Td ta="right">
              <Money usd={item.cost} decimals={decimals} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

function RecordCards({ items, recordPath }: RecordsListProps) {
  const decimals = decimalsOf(items.map(({ cost }) => cost))
  return (
    <Rows>
      {items.map((item) => (
        <Box component="li" key={item.recordId} px="lg" py="md" style={{ borderTop: '1px solid var(--hairline)' }}>
          <Group justify="space-between" align="flex-start" wrap="nowrap" gap="sm">
            <Box miw={0}>
              <RecordLink item={item} path={recordPath(item.requestId)} />
              <ModelNames item={item} />
            </Box>
            <Box ta="right">
              <Money usd={item.cost} decimals={decimals} />
              <Times item={item} />
            </Box>
          </Group>
          <Group justify="space-between" mt={6} gap="xs">
            <Outcome item={item} />
            <Text size="xs" c="dimmed" className="figures">
              {formatCount(item.inputTokens)} in · {formatCount(item.outputTokens)} out
            </Text>
          </Group>
        </Box>
      ))}
    </Rows>
  )
}

function RecordLink({ item, path }: { item: UsageItem; path: string }) {
  return (
    <Anchor
      component={Link}
      href={path}
      size="sm"
      style={NO_WRAP}
      aria-label={`Usage record: ${formatMoment(item.at, { hasSeconds: true })}`}
    >
      <Moment at={item.at} hasSeconds />
    </Anchor>
  )
}
