// Prices, in US dollars.

const money = (digits: number) =>
  new Intl.NumberFormat('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
const cents = money(2)
const exact = money(4)

const signed = (value: number, text: string) => (value < 0 ? `−$${text}` : `$${text}`)

/** A sum, with as many digits as small ones need. */
export function dollars(value: number): string {
  const size = Math.abs(value)
  return signed(value, (size > 0 && size < 0.1 ? exact : cents).format(size))
}

/** A price beside others, so that they compare. */
export const price = (value: number): string => exact.format(value)
