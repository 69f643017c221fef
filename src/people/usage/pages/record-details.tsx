/** A usage record on a page: charge and billing rule first, then facts of the request. */
import { Alert, Box, Group, Stack, Table, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Heads, SCROLLED } from '@/dashboard/components/lists/data-table'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { capitalise, decimalsOf, formatCount, formatDuration, formatMoney, toolLabel } from '@/dashboard/format'
import { ModelNames, Outcome } from './record-cells'
import type { UsageRecord } from './usage-data'
import { flagLabel, lineLabel, ruleLabel } from './words'

export function RecordDetails({ record }: { record: UsageRecord }) {
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-end">
        <Box>
          <Text size="sm" c="dimmed">
            Charged
          </Text>
          <Text fz={26} fw={650} component="div">
            <Money usd={record.cost} isExact />
          </Text>
        </Box>
        <Outcome item={{ ...record, kind: 'settle', flags: [] }} />
      </Group>
      <Price record={record} />
      <Box>
        <Title order={3} size="h5" mb={4}>
          Billing rule: {ruleLabel(record.rule.name)}
        </Title>
        <Text size="sm">{record.rule.words}</Text>
        {record.flags.map((flag) => (
          <Alert key={flag.name} color="yellow" mt="sm" title={capitalise(flagLabel(flag.name))} py="xs">
            <Text size="sm">{flag.words}</Text>
          </Alert>
        ))}
      </Box>
      {record.records.length > 1 && <Records record={record} />}
      <Details record={record} />
    </Stack>
  )
}

type Line = NonNullable<UsageRecord['lines']>[number]

function Price({ record: { lines, toolLines, rounding, priceNote, cost } }: { record: UsageRecord }) {
  if (lines === null) return <Text size="sm">{priceNote}</Text>
  const amounts = [
    ...lines.map(({ amount }) => amount),
    ...toolLines.map(({ amount }) => amount),
    rounding ?? '0',
    cost,
  ]
  const amount = { decimals: decimalsOf(amounts, EXACT) }
  const price = {
    decimals: decimalsOf(
      lines.map(({ unitPrice }) => unitPrice),
      EXACT,
    ),
  }
  return (
    <Table.ScrollContainer minWidth={300} scrollAreaProps={SCROLLED}>
      <Table fz="sm" verticalSpacing={6}>
        <Heads columns={PRICE_COLUMNS} />
        <Table.Tbody>
          {lines.map((line) => (
            <Row
              key={`${line.class} ${line.unit} ${line.variant ?? ''}`}
              cells={[formatCount(line.count), unitPrice(line, price), formatMoney(line.amount, amount)]}
            >
              {lineLabel(line)}
            </Row>
          ))}
          {toolLines.map(({ tool, uses, amount: usd }) => (
            <Row key={tool} cells={[formatCount(uses), '', formatMoney(usd, amount)]}>
              {toolLabel(tool)}
            </Row>
          ))}
          {rounding !== null && rounding !== '0' && (
            <Row cells={['', '', formatMoney(rounding, amount)]}>Rounded up to $0.000000001</Row>
          )}
          <Row cells={['', '', formatMoney(cost, amount)]}>Total</Row>
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

/** The price of a million tokens or characters. For other units, such as images, the price of one. */
function unitPrice({ unit, unitPrice: usd }: Line, options: { decimals: number }): string {
  return unit === 'token' || unit === 'character' ? formatMoney(usd, options) : `${formatMoney(usd, EXACT)} each`
}

const EXACT = { isExact: true }
const PRICE_COLUMNS = [
  { title: 'Charged for' },
  { title: 'Count', ta: 'right' },
  { title: 'Per 1M', ta: 'right' },
  { title: 'Amount', ta: 'right' },
] as const

function Row({ children, cells }: { children: ReactNode; cells: [string, string, string] }) {
  const [count, price, amount] = cells
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400}>
        {children}
      </Table.Th>
      <Table.Td ta="right" className="figures">
        {count}
      </Table.Td>
      <Table.Td ta="right" className="figures">
        {price}
      </Table.Td>
      <Table.Td ta="right" className="figures">
        {amount}
      </Table.Td>
    </Table.Tr>
  )
}

function Records({ record: { records } }: { record: UsageRecord }) {
  return (
    <Box>
      <Title order={3} size="h5" mb={4}>
        Its usage records
      </Title>
      {records.map((part) => (
        <Group key={part.recordId} justify="space-between" gap="sm">
          <Text size="sm">
            {part.kind === 'late' ? 'Corrected' : 'Charged'}, <Moment at={part.at} hasSeconds />
          </Text>
          <Money usd={part.cost} isExact />
        </Group>
      ))}
    </Box>
  )
}

function Details({ record }: { record: UsageRecord }) {
  return (
    <Box>
      <Title order={3} size="h5" mb={4}>
        The request
      </Title>
      <Table fz="sm" verticalSpacing={6} layout="fixed">
        <Table.Tbody>
          <Detail name="Model">
            <ModelNames item={record} />
          </Detail>
          <Detail name="Provider">
            {record.provider}, model {record.upstreamModel}
          </Detail>
          <Detail name="API key">{record.keyName ?? record.keyId}</Detail>
          {record.memberName !== null && <Detail name="Member">{record.memberName}</Detail>}
          <Detail name="Formats">
            {record.clientFormat}
            {record.clientFormat !== record.providerFormat && `, translated to ${record.providerFormat}`}
            {record.stream ? ', streamed' : ', in one piece'}
          </Detail>
          <Detail name="Tokens">
            {formatCount(record.inputTokens)} in ({formatCount(record.cacheReadTokens)} from cache),{' '}
            {formatCount(record.outputTokens)} out ({formatCount(record.reasoningTokens)} reasoning)
          </Detail>
          {record.facts.map((fact) => (
            <Detail key={fact.label} name={fact.label}>
              <Fact {...fact} />
            </Detail>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  )
}

function Fact({ kind, value }: UsageRecord['facts'][number]) {
  if (value === null) return '–'
  if (kind === 'amount') return <Money usd={value} isExact />
  if (kind === 'moment') return <Moment at={value} hasSeconds />
  if (kind === 'duration') return formatDuration(Number(value))
  return kind === 'count' ? formatCount(Number(value)) : value
}

function Detail({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={400} w="32%">
        <Text size="sm" c="dimmed" component="span">
          {name}
        </Text>
      </Table.Th>
      <Table.Td className="wrap-anywhere">{children}</Table.Td>
    </Table.Tr>
  )
}
