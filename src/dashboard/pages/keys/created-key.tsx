/** The one moment in which a whole API key can be seen: what it is, and code to try it with. */
import { Box, Text } from '@mantine/core'
import { chatModels, useCatalogue } from '@/dashboard/catalogue'
import { SnippetTabs } from '@/dashboard/components/snippet-tabs'
import { ShownOnce } from './shown-once'

/** Shows `value` until the person says that it is kept. */
export function CreatedKey({ value, finish }: { value: string; finish(): void }) {
  const catalogue = useCatalogue().data
  const model = catalogue?.tiers[0]?.id ?? chatModels(catalogue?.models ?? [])[0]?.id ?? 'auto-smart'
  return (
    <ShownOnce label="API key" value={value} finish={finish}>
      <Box>
        <Text fw={600} mb={4}>
          Try it
        </Text>
        <SnippetTabs
          call={{
            origin: window.location.origin,
            key: value,
            model,
            system: '',
            turns: [{ role: 'user', text: 'Say hello' }],
            temperature: undefined,
            maxTokens: undefined,
          }}
        />
      </Box>
    </ShownOnce>
  )
}
