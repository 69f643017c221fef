/** A text field with a copy button: for a key, a reference or an account number. */
import { ActionIcon, Box, CopyButton, Group, Text, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'

type CopyFieldProps = {
  label: string
  value: string
  /** The text that is shown, for instance with spaces. The button copies `value`. */
  shown?: string
  isLabelHidden?: boolean
}

const COPIED_MS = 2_000

/** The value below its label, with the button beside it. */
export function CopyField({ label, value, shown = value, isLabelHidden = false }: CopyFieldProps) {
  return (
    <Box>
      {!isLabelHidden && (
        <Text size="sm" c="dimmed">
          {label}
        </Text>
      )}
      <Group gap="xs" wrap="nowrap" align="center">
        <Text ff="monospace" size="sm" className="wrap-anywhere" style={{ flex: 1 }}>
          {shown}
        </Text>
        <CopyIcon label={label} value={value} />
      </Group>
    </Box>
  )
}

/** Only the button; `isSubtle` for lists. */
export function CopyIcon({ label, value, isSubtle = false }: { label: string; value: string; isSubtle?: boolean }) {
  return (
    <CopyButton value={value} timeout={COPIED_MS}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : `Copy ${label.toLowerCase()}`}>
          <ActionIcon
            variant={isSubtle ? 'subtle' : 'default'}
            color="gray"
            size={isSubtle ? 'sm' : 'md'}
            onClick={copy}
            aria-label={copied ? `${label} copied` : `Copy ${label.toLowerCase()}`}
            className="no-print"
          >
            {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  )
}
