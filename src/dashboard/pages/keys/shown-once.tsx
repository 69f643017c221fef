/** A secret in the one moment in which it can be seen. */
import { Alert, Box } from '@mantine/core'
import { IconInfoCircle } from '@tabler/icons-react'
import { CopyField } from '@/dashboard/components/fields/copy-field'

/** Has the focus where it appears, so that it is read out, and the keyboard goes on from there. */
export function ShownOnce({ label, value }: { label: string; value: string }) {
  return (
    <>
      <Alert ref={takeFocus} tabIndex={-1} color="yellow" icon={<IconInfoCircle size={18} />}>
        Copy the key now and keep it somewhere safe. It is not stored and cannot be shown again.
      </Alert>
      <Box className="surface" p="md">
        <CopyField label={label} value={value} isLabelHidden />
      </Box>
    </>
  )
}

/** One function for all times the part is drawn: it is called when the part appears, and when it goes. */
function takeFocus(part: HTMLElement | null): void {
  part?.focus()
}
