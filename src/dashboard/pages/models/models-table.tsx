/** The table of models with their prices. */
import { Anchor, Badge, Group, Text } from '@mantine/core'
import type { ModelBody } from '@/dashboard/catalogue'
import { CopyIcon } from '@/dashboard/components/fields/copy-field'
import { DataTable, FIGURES } from '@/dashboard/components/lists/data-table'
import { formatCompact, formatMoney } from '@/dashboard/format'
import { CAPABILITY_NAMES } from './model-filter'

/** Minimum width in pixels: enough for names and prices, the columns that a phone shows. */
const MIN_WIDTH = 320

/** `open` shows a model's details. */
export function ModelsTable({ models, open }: { models: readonly ModelBody[]; open(model: ModelBody): void }) {
  return (
    <DataTable
      items={models}
      keyOf={({ id }) => id}
      minWidth={MIN_WIDTH}
      horizontalSpacing="md"
      highlightOnHover
      columns={[
        { title: 'Model', maw: 340, cell: (model) => <Name model={model} open={() => open(model)} /> },
        { title: 'Can use', maw: 260, visibleFrom: 'sm', cell: (model) => <Capabilities names={model.capabilities} /> },
        { title: 'Context', ...FIGURES, visibleFrom: 'xs', cell: (model) => formatCompact(model.contextLength) },
        { title: 'Input', ta: 'right', cell: ({ prices }) => <Price usd={prices.input} /> },
        { title: 'Output', ta: 'right', cell: ({ prices }) => <Price usd={prices.output} /> },
      ]}
    />
  )
}

function Name({ model, open }: { model: ModelBody; open(): void }) {
  return (
    <>
      <Anchor component="button" type="button" onClick={open} fw={600} size="sm" ta="left" className="wrap-anywhere">
        {model.name}
      </Anchor>
      <Group gap={6} wrap="nowrap">
        <Text size="xs" c="dimmed" ff="monospace" className="wrap-anywhere">
          {model.id}
        </Text>
        <CopyIcon label={`Id of ${model.name}`} value={model.id} isSubtle />
      </Group>
    </>
  )
}

/** A model's capabilities as badges. */
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

/** A price with all its digits, since people compare prices. */
export function Price({ usd }: { usd: string }) {
  return <span className="figures">{formatMoney(usd, { isExact: true })}</span>
}
