/** A block of code on a page, to be read and copied. */
import { Box, Code } from '@mantine/core'
import { CopyIcon } from '@/dashboard/components/fields/copy-field'

/** `label` names the code for the copy button, e.g. `curl command`. The block scrolls sideways by itself. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <Box pos="relative">
      <Code
        block
        fz="sm"
        tabIndex={0}
        role="region"
        aria-label={label}
        pr={48}
        style={{ whiteSpace: 'pre', overflowX: 'auto' }}
      >
        {code}
      </Code>
      <Box pos="absolute" top={8} right={8}>
        <CopyIcon label={label} value={code} />
      </Box>
    </Box>
  )
}
