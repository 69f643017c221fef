/** The settings for stored answers: their number, and the storage time. */
import { Button, Group, Select, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { confirm } from '@/dashboard/components/confirm'
import { notifyDone, notifyError } from '@/dashboard/components/notify'
import { Section } from '@/dashboard/components/section'
import { Loaded } from '@/dashboard/components/states/loaded'
import { formatBytes, formatCount } from '@/dashboard/format'
import { askAgain } from '@/dashboard/query'
import { perform, type ResultOf } from '@/people/client'

type Standing = ResultOf<'GET /stored-responses'>

const STANDING_KEY = ['stored-responses']
const HOURS = [1, 24, 7 * 24, 30 * 24, 90 * 24, 365 * 24]
const FIELD_WIDTH = 260

export function StoredResponsesSection() {
  const standing = useQuery({ queryKey: STANDING_KEY, queryFn: () => perform('GET /stored-responses', {}) })
  return (
    <Section
      title="Stored responses"
      description="Answers of the Responses API that your programs go on from by their ids, unless they ask with store: false."
    >
      <Loaded query={standing}>{(told) => <Retention key={told.hours} standing={told} />}</Loaded>
    </Section>
  )
}

function Retention({ standing }: { standing: Standing }) {
  const { hours, maxHours, kept, bytes } = standing
  const [chosen, setChosen] = useState(String(hours))
  if (maxHours === 0) return <Text size="sm">This service stores no responses.</Text>
  const offered = [...new Set([0, ...HOURS.filter((some) => some < maxHours), hours, maxHours])]
  offered.sort((one, other) => one - other)
  return (
    <Stack gap="md">
      <Text size="sm">
        {formatCount(kept)} response{kept === 1 ? '' : 's'}, {formatBytes(bytes)}.
      </Text>
      <Group align="flex-end" gap="sm">
        <Select
          label="Keep responses for"
          w={FIELD_WIDTH}
          data={offered.map((some) => ({ value: String(some), label: spanOf(some) }))}
          value={chosen}
          onChange={(value) => setChosen(value ?? chosen)}
          allowDeselect={false}
        />
        <Button variant="default" disabled={Number(chosen) === hours} onClick={() => choose(standing, Number(chosen))}>
          Save
        </Button>
      </Group>
    </Stack>
  )
}

function choose({ hours, kept }: Standing, chosen: number): void {
  if (chosen > hours || kept === 0) {
    void save(chosen).catch(notifyError)
    return
  }
  confirm({
    title: chosen === 0 ? 'Delete all stored responses?' : 'Keep responses for a shorter time?',
    body:
      chosen === 0
        ? 'All are deleted now, and no more are stored. Programs that go on from a response by its id fail from then on.'
        : 'Those that are older are deleted. Programs that go on from one of them by its id fail from then on.',
    action: chosen === 0 ? 'Delete and store no more' : 'Keep for a shorter time',
    run: () => save(chosen),
  })
}

async function save(hours: number): Promise<void> {
  await perform('PUT /stored-responses', { hours })
  await askAgain({ queryKey: STANDING_KEY })
  notifyDone(hours === 0 ? 'No responses are stored any more.' : `Responses are kept for ${spanOf(hours)}.`)
}

const HOURS_A_DAY = 24

function spanOf(hours: number): string {
  if (hours === 0) return 'not at all'
  const [count, unit] = hours % HOURS_A_DAY === 0 ? [hours / HOURS_A_DAY, 'day'] : [hours, 'hour']
  return `${formatCount(count)} ${unit}${count === 1 ? '' : 's'}`
}
