/** The limits of an API key in words, with what holds where it has none of its own. */
import { SimpleGrid, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Moment } from '@/dashboard/components/moment'
import { formatCount, formatMoney } from '@/dashboard/format'
import { type KeyBody, useKeys } from './keys-data'

/** Every limit, and the tags of its usage. */
export function KeyLimits({ item: { limits, endsAt, tags } }: { item: KeyBody }) {
  const defaults = useKeys().data?.defaults
  const count = (own: number | null, standard: number | undefined) => {
    if (own !== null) return formatCount(own)
    return standard === undefined ? 'Standard' : `${formatCount(standard)} (standard)`
  }
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="lg">
      <Limit label="Monthly budget">
        {limits.monthlyBudgetUsd === null ? 'None' : formatMoney(limits.monthlyBudgetUsd)}
      </Limit>
      <Limit label="Works until">
        <Moment at={endsAt} never="No end" />
      </Limit>
      <Limit label="Requests per minute">{count(limits.requestsPerMinute, defaults?.requestsPerMinute)}</Limit>
      <Limit label="Tokens per minute">{count(limits.tokensPerMinute, defaults?.tokensPerMinute)}</Limit>
      <Limit label="Requests at once">{count(limits.concurrency, defaults?.concurrency)}</Limit>
      <Limit label="Allowed models">
        {limits.allowedModels === null ? 'Every model' : <Items items={limits.allowedModels} />}
      </Limit>
      <Limit label="Allowed providers">
        {limits.allowedProviders === null ? 'Every provider' : <Items items={limits.allowedProviders} />}
      </Limit>
      <Limit label="Allowed addresses">
        {limits.allowedAddresses === null ? 'Everywhere' : <Items items={limits.allowedAddresses} />}
      </Limit>
      <Limit label="Tags of its usage">{tags === null ? 'None' : <Items items={tags} />}</Limit>
    </SimpleGrid>
  )
}

function Items({ items }: { items: readonly string[] }) {
  return (
    <Stack gap={2}>
      {items.map((item) => (
        <Text key={item} span size="sm" ff="monospace" className="wrap-anywhere">
          {item}
        </Text>
      ))}
    </Stack>
  )
}

function Limit({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text size="sm" component="div" className="figures">
        {children}
      </Text>
    </div>
  )
}
