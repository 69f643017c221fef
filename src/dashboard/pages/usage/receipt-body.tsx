/** A receipt: what was charged and why, then how the request went. */
import { Alert, Box, Group, Stack, Table, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Moment } from '@/dashboard/components/moment'
import { Money } from '@/dashboard/components/money'
import { formatCount, formatDuration, formatMoney } from '@/dashboard/format'
import { ModelNames, Outcome } from './record-cells'
import type { Receipt } from './usage-data'
import { classLabel, flagLabel, ruleLabel } from './words'

export function ReceiptBody({ receipt }: { receipt: Receipt }) {
  return (
    <Stack gap="lg">
      <Group justify="space-between" align="flex-end">
        <Box>
          <Text size="sm" c="dimmed">
            Charged
          </Text>
          <Text fz={26} fw={650} component="div">
            <Money usd={receipt.cost} isExact />
          </Text>
        </Box>
        <Outcome item={{ ...receipt, kind: 'settle', flags: [] }} />
      </Group>
      <Price receipt={receipt} />
      <Box>
        <Title order={3} size="h5" mb={4}>
          Billing rule: {ruleLabel(receipt.rule.name)}
        </Title>
        <Text size="sm">{receipt.rule.words}</Text>
        {receipt.flags.map((flag) => (
          <Alert key={flag.name} color="yellow" mt="sm" title={capitalise(flagLabel(flag.name))} py="xs">
            <Text size="sm">{flag.words}</Text>
          </Alert>
        ))}
      </Box>
      {receipt.charges.length > 1 && <Charges receipt={receipt} />}
      <Details receipt={receipt} />
    </Stack>
  )
}

function Price({ receipt: { lines, rounding, priceNote, cost } }: { receipt: Receipt }) {
  if (lines === null) return <Text size="sm">{priceNote}</Text>
  return (
    <Table.ScrollContainer minWidth={300} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table fz="sm" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Tokens</Table.Th>
            <Table.Th scope="col" ta="right">
              Count
            </Table.Th>
            <Table.Th scope="col" ta="right">
              Per 1M
            </Table.Th>
            <Table.Th scope="col" ta="right">
              Amount
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {lines.map((line) => (
            <Row
              key={line.class}
              cells={[formatCount(line.tokens), formatMoney(line.unitPrice, EXACT), formatMoney(line.amount, EXACT)]}
            >
              {classLabel(line.class)}
            </Row>
          ))}
          {rounding !== null && rounding !== '0' && (
            <Row cells={['', '', formatMoney(rounding, EXACT)]}>Rounded up to $0.000000001</Row>
          )}
          <Row cells={['', '', formatMoney(cost, EXACT)]}>Total</Row>
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

const EXACT = { isExact: true }

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

function Charges({ receipt: { charges } }: { receipt: Receipt }) {
  return (
    <Box>
      <Title order={3} size="h5" mb={4}>
        Charges
      </Title>
      {charges.map((charge) => (
        <Group key={charge.eventId} justify="space-between" gap="sm">
          <Text size="sm">
            {charge.kind === 'late' ? 'Correction' : 'Charge'}, <Moment at={charge.at} />
          </Text>
          <Money usd={charge.cost} isExact />
        </Group>
      ))}
    </Box>
  )
}

function Details({ receipt }: { receipt: Receipt }) {
  return (
    <Box>
      <Title order={3} size="h5" mb={4}>
        The request
      </Title>
      <Table fz="sm" verticalSpacing={6} layout="fixed">
        <Table.Tbody>
          <Detail name="Model">
            <ModelNames item={receipt} />
          </Detail>
          <Detail name="Route">{receipt.routeReason ?? 'Nothing had answered'}</Detail>
          <Detail name="Provider">
            {receipt.provider}, model {receipt.upstreamModel}
          </Detail>
          <Detail name="Attempts">{formatCount(receipt.attempts)}</Detail>
          <Detail name="HTTP status">{receipt.status}</Detail>
          <Detail name="API key">{receipt.keyName ?? receipt.keyId}</Detail>
          <Detail name="Formats">
            {receipt.clientFormat}
            {receipt.clientFormat !== receipt.providerFormat && `, translated to ${receipt.providerFormat}`}
            {receipt.stream ? ', streamed' : ', in one piece'}
          </Detail>
          <Detail name="Tokens">
            {formatCount(receipt.inputTokens)} in ({formatCount(receipt.cacheReadTokens)} from cache),{' '}
            {formatCount(receipt.outputTokens)} out ({formatCount(receipt.reasoningTokens)} reasoning)
          </Detail>
          <Detail name="Began">
            <Moment at={receipt.startedAt} />
          </Detail>
          <Detail name="First token">
            {receipt.firstTokenMs === null ? 'Not measured' : `after ${formatDuration(receipt.firstTokenMs)}`}
          </Detail>
          <Detail name="Duration">{formatDuration(receipt.durationMs)}</Detail>
          <Detail name="Reserved">
            <Money usd={receipt.held} isExact />
          </Detail>
        </Table.Tbody>
      </Table>
    </Box>
  )
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

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
