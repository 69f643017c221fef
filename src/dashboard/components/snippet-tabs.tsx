import { Box, NativeSelect, Stack } from '@mantine/core'
import { useState } from 'react'
import { type SnippetCall, snippetsOf } from '@/dashboard/snippets'
import { CodeBlock } from './code-block'

/** Tabs that show one API call in several languages. The chosen language stays if the call changes. */
export function SnippetTabs({ call }: { call: SnippetCall }) {
  const [chosen, setChosen] = useState('curl')
  const snippets = snippetsOf(call)
  const shown = snippets.find(({ id }) => id === chosen) ?? snippets[0]
  return (
    <Stack gap="xs">
      <Box maw={240}>
        <NativeSelect
          label="Language"
          size="sm"
          value={shown?.id}
          onChange={(event) => setChosen(event.currentTarget.value)}
          data={snippets.map(({ id, label }) => ({ value: id, label }))}
        />
      </Box>
      {shown && <CodeBlock code={shown.code} label={`${shown.label} code`} />}
    </Stack>
  )
}
