import { Box, Text } from '@mantine/core'
import { chatModels, useCatalogue } from '@/dashboard/catalogue'
import { SnippetTabs } from '@/dashboard/components/snippet-tabs'
import { ShownOnce } from './shown-once'

/** Shows the whole API key once, with code to try it, until the person confirms that it is saved. */
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
