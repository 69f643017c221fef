/** A block of code on a page, to be read and copied. */
import { Box, Code } from '@mantine/core'
import { CopyIcon } from '@/dashboard/components/fields/copy-field'

type CodeBlockProps = {
  code: string
  /** Names the code for the copy button, e.g. `curl command`. */
  label: string
  /** Whether screen readers list it among the parts of the page; not where there may be many. */
  isLandmark?: boolean
}

/** The block scrolls sideways by itself. */
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
