import { Box, Code } from '@mantine/core'
import { CopyIcon } from '@/dashboard/components/fields/copy-field'

type CodeBlockProps = {
  code: string
  label: string
  /** Whether screen readers list it as a landmark; false if a page has many. */
  isLandmark?: boolean
}

/** A block of code with a copy button. Long lines scroll inside the block. */
export function CodeBlock({ code, label, isLandmark = true }: CodeBlockProps) {
  return (
    <Box pos="relative">
      <Code
        block
        fz="sm"
        tabIndex={0}
        role={isLandmark ? 'region' : 'group'}
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
