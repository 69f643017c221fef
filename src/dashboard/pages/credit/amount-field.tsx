/** The field for how much credit to buy: the usual amounts at a click, any other by typing. */
import { Chip, Group, Input, Stack, TextInput } from '@mantine/core'
import { formatMoney } from '@/dashboard/format'

type AmountFieldProps = {
  presets: readonly string[]
  minimumUsd: string
  maximumUsd: string
  /** Decimal USD as typed. */
  value: string
  error: string | undefined
  onChange(value: string): void
}

export function AmountField({ presets, minimumUsd, maximumUsd, value, error, onChange }: AmountFieldProps) {
  const limits = `From ${short(minimumUsd)} to ${short(maximumUsd)}`
  return (
    <Stack gap="sm">
      <Input.Wrapper label="Amount" labelElement="div">
        <Chip.Group value={value} onChange={(chosen) => onChange(String(chosen))}>
          <Group gap="xs" mt={4} role="radiogroup" aria-label="Usual amounts">
            {presets.map((preset) => (
              <Chip key={preset} value={preset} radius="md" size="md">
                {short(preset)}
              </Chip>
            ))}
          </Group>
        </Chip.Group>
      </Input.Wrapper>
      <TextInput
        label="Or another amount in US dollars"
        description={limits}
        inputMode="decimal"
        autoComplete="off"
        maxLength={11}
        leftSection="$"
        maw={280}
        value={value}
        error={error}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </Stack>
  )
}

/** `$25` where there are no cents. */
function short(usd: string): string {
  return formatMoney(usd).replace(/\.00$/, '')
}
