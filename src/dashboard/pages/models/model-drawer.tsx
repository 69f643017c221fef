import { Button, Drawer, Group, Stack, Table, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { ModelBody } from '@/dashboard/catalogue'
import { CopyField } from '@/dashboard/components/fields/copy-field'
import { formatCount, formatDay, toolLabel } from '@/dashboard/format'
import { Capabilities, Price } from './models-table'

/** Details of a model, beside the list: prices, limits, capabilities, and a link to the playground. Open if `model` is set. */
export function ModelDrawer({ model, close }: { model: ModelBody | undefined; close(): void }) {
  return (
    <Drawer
      opened={model !== undefined}
      onClose={close}
      position="right"
      size="md"
      title={model?.name}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {model && <Details model={model} />}
    </Drawer>
  )
}

function Details({ model }: { model: ModelBody }) {
  return (
    <Stack gap="lg">
      <CopyField label="Model id" value={model.id} />
      <Group gap="sm">
        <Button component={Link} href={`/playground?model=${encodeURIComponent(model.id)}`}>
          Try in playground
        </Button>
      </Group>
      <Prices model={model} />
      <Facts model={model} />
    </Stack>
  )
}

const CLASSES = [
  ['input', 'Input'],
  ['cacheRead', 'Cache read'],
  ['cacheWrite5m', 'Cache write, 5 minutes'],
  ['cacheWrite1h', 'Cache write, 1 hour'],
  ['output', 'Output'],
] as const

function Prices({ model }: { model: ModelBody }) {
  const columns = [{ key: 0, label: 'Price', prices: model.prices }].concat(
    model.priceSteps.map(({ aboveInputTokens, prices }) => ({
      key: aboveInputTokens,
      label: `Above ${formatCount(aboveInputTokens)} input tokens`,
      prices,
    })),
  )
  return (
    <div>
      <Title order={3} size="h5">
        Prices
      </Title>
      <Text size="sm" c="dimmed">
        USD per 1,000,000 tokens. Reasoning counts as output.
      </Text>
      <Table mt="xs" verticalSpacing={6} horizontalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Tokens</Table.Th>
            {columns.map(({ key, label }) => (
              <Table.Th key={key} scope="col" ta="right">
                {label}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {CLASSES.map(([name, label]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" fw={400}>
                {label}
              </Table.Th>
              {columns.map(({ key, prices }) => (
                <Table.Td key={key} ta="right">
                  <Price usd={prices[name]} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}

function Facts({ model }: { model: ModelBody }) {
  return (
    <Stack gap="sm">
      <Title order={3} size="h5">
        Facts
      </Title>
      <Fact label="Context">{formatCount(model.contextLength)} tokens</Fact>
      {model.kind !== 'chat' && <Fact label="Gives">{GIVES[model.kind]}</Fact>}
      {model.maxOutputTokens > 0 && <Fact label="Longest answer">{formatCount(model.maxOutputTokens)} tokens</Fact>}
      <Fact label="Can use">
        {model.capabilities.length === 0 ? 'Text only' : <Capabilities names={model.capabilities} />}
      </Fact>
      {model.priceLines.map(({ billable, unit, variant, usd }) => (
        <Fact key={`${billable} ${unit} ${variant}`} label={lineName(billable, variant)}>
          <Price usd={usd} /> per{' '}
          {unit === 'token' || unit === 'character' ? `1,000,000 ${unit}s` : toolLabel(unit).toLowerCase()}
        </Fact>
      ))}
      {model.toolPrices.map(({ tool, usd, per }) => (
        <Fact key={tool} label={toolLabel(tool)}>
          <Price usd={usd} /> per {per}
        </Fact>
      ))}
      {model.dataTerms.map((terms) => (
        <Fact key={JSON.stringify(terms)} label={`Content at ${terms.provider}`}>
          {termsText(terms)}
        </Fact>
      ))}
      {model.fallback.length > 0 && <Fact label="If it fails">{model.fallback.join(', ')}</Fact>}
      <Fact label="Released">{formatDay(model.created)}</Fact>
    </Stack>
  )
}

const GIVES = {
  embedding: 'Embeddings',
  image: 'Pictures',
  speech: 'Speech',
  transcription: 'Transcripts',
  rerank: 'Sorted documents',
} as const

/** The name of a price line, such as `Output image (hd)`. */
function lineName(billable: string, variant: string | undefined): string {
  return variant === undefined ? toolLabel(billable) : `${toolLabel(billable)} (${variant})`
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Group justify="space-between" align="flex-start" gap="md">
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text size="sm" component="div" className="wrap-anywhere">
        {children}
      </Text>
    </Group>
  )
}

/** A provider's data terms in one line: retention, training and region. Missing terms are unknown. */
function termsText({ retention, trains, region }: ModelBody['dataTerms'][number]): string {
  const kept = retention === 'none' ? 'no' : typeof retention === 'number' ? `${retention} days` : retention
  const training = typeof trains === 'string' ? trains : trains ? 'yes' : 'no'
  return `Kept: ${kept}. Training: ${training}. Region: ${region ?? 'unknown'}.`
}
