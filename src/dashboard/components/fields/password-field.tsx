/** A password field that can show its text, with the names that password managers expect. */
import { PasswordInput, type PasswordInputProps } from '@mantine/core'

type PasswordFieldProps = Omit<PasswordInputProps, 'autoComplete'> & {
  /** `new` lets a password manager suggest a password. */
  purpose: 'current' | 'new'
}

export function PasswordField({ purpose, ...props }: PasswordFieldProps) {
  return (
    <PasswordInput
      required
      withAsterisk={false}
      autoComplete={`${purpose}-password`}
      visibilityToggleButtonProps={{ 'aria-label': 'Show password', 'aria-hidden': false, tabIndex: 0 }}
      {...props}
    />
  )
}
