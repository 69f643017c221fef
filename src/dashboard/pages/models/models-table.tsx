/** The table of models and their prices, one in a row. */
import { Anchor, Badge, Group, Table, Text } from '@mantine/core'
import type { ModelBody } from '@/dashboard/catalogue'
import { CopyIcon } from '@/dashboard/components/fields/copy-field'
import { formatCompact, formatMoney } from '@/dashboard/format'
import { CAPABILITY_NAMES } from './model-filter'

/** A phone shows names and prices only. */
const MIN_WIDTH = 320

/** `open` shows all there is to know of a model. */
export function ModelsTable({ models, open }: { models: readonly ModelBody[]; open(model: ModelBody): void }) {
  return (
    <Table.ScrollContainer minWidth={MIN_WIDTH} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table verticalSpacing="sm" horizontalSpacing="md" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Model</Table.Th>
            <Table.Th scope="col" visibleFrom="sm">
              Can use
            </Table.Th>
            <Table.Th scope="col" ta="right" visibleFrom="xs">
              Context
            </Table.Th>
            <Table.Th scope="col" ta="right">
              Input
            </Table.Th>
            <Table.Th scope="col" ta="right">
              Output
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {models.map((model) => (
            <ModelRow key={model.id} model={model} open={() => open(model)} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function ModelRow({ model, open }: { model: ModelBody; open(): void }) {
  return (
    <Table.Tr>
      <Table.Td maw={340}>
        <Anchor component="button" type="button" onClick={open} fw={600} size="sm" ta="left" className="wrap-anywhere">
          {model.name}
        </Anchor>
        <Group gap={6} wrap="nowrap">
          <Text size="xs" c="dimmed" ff="monospace" className="wrap-anywhere">
            {model.id}
          </Text>
          <CopyIcon label={`Id of ${model.name}`} value={model.id} isSubtle />
        </Group>
      </Table.Td>
      <Table.Td maw={260} visibleFrom="sm">
        <Capabilities names={model.capabilities} />
      </Table.Td>
      <Table.Td ta="right" className="figures" visibleFrom="xs">
        {formatCompact(model.contextLength)}
      </Table.Td>
      <Table.Td ta="right">
        <Price usd={model.prices.input} />
      </Table.Td>
      <Table.Td ta="right">
        <Price usd={model.prices.output} />
      </Table.Td>
    </Table.Tr>
  )
}

/** What a model can use, in words. */
export function Capabilities({ names }: { names: readonly string[] }) {
  return (
    <Group gap={4}>
      {names.map((name) => (
        <Badge key={name} size="sm" variant="default" tt="none" fw={500}>
          {CAPABILITY_NAMES[name] ?? name}
        </Badge>
      ))}
    </Group>
  )
}

/** A price with every digit that it has: people compare them. */
export function Price({ usd }: { usd: string }) {
  return <span className="figures">{formatMoney(usd, { isExact: true })}</span>
}
