/** Detects passwords that everyone guesses first. There are no rules for symbols or digits, which only make passwords similar. */

/** The most common passwords of at least eight characters in lower case, from leaks. */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `password password1 password12 password123 password1234 passw0rd p@ssw0rd p@ssword pa55word passwort motdepasse
  contraseña senha123 123456789 1234567890 12345678910 0123456789 123123123 1q2w3e4r 1q2w3e4r5t 1qaz2wsx 1qazxsw2 q1w2e3r4
  q1w2e3r4t5 qwerty12 qwerty123 qwerty1234 qwertyuiop qwertyui qwertzuiop azertyuiop asdfghjk asdfghjkl zxcvbnm1 zxcvbnm123
  zaq12wsx abcd1234 abc12345 abcdef123 a1b2c3d4 aa123456 aa12345678 iloveyou iloveyou1 iloveyou2 princess princess1 sunshine
  sunshine1 football football1 baseball baseball1 basketball superman superman1 batman123 spiderman pokemon123 starwars
  whatever whatever1 trustno1 letmein1 letmein123 welcome1 welcome12 welcome123 welcome2024 welcome2025 welcome2026 changeme
  changeme1 changeme123 default1 admin123 admin1234 admin12345 administrator root1234 rootroot toor1234 test1234 test12345
  testtest testing1 testing123 guest123 guest1234 user1234 login123 secret123 secret12 computer computer1 internet internet1
  samsung1 michelle jennifer jessica1 charlie1 michael1 ashley12 daniel12 nicole12 jordan23 mercedes corvette maverick
  liverpool liverpool1 chelsea1 arsenal1 barcelona juventus dragon12 dragon123 monkey12 monkey123 shadow12 shadow123 master12
  master123 killer12 killer123 freedom1 freedom123 summer2024 summer2025 summer2026 winter2024 winter2025 winter2026
  spring2025 spring2026 autumn2025 autumn2026 company1 company123 temp1234 temporary trustme1 hello123 hello1234 helloworld
  google123 facebook facebook1 linkedin microsoft windows1 apple123 11223344 12341234 12344321 87654321 98765432 987654321
  9876543210 147258369 159357456 789456123 741852963 112233445566 147852369 1029384756 55555555 66666666 77777777 88888888
  99999999 11111111 00000000 22222222 33333333 44444444 qqww1122 q1w2e3r4t5y6 correcthorsebatterystaple`.split(/\s+/),
)

/** Whether a password is very common, repetitive, or one of `known` (the person's address and name). */
export function isWeakPassword(password: string, known: readonly string[]): boolean {
  const plain = password.toLowerCase()
  const words = known.flatMap((text) => [text, text.split('@')[0] ?? '']).map((word) => word.toLowerCase())
  return COMMON_PASSWORDS.has(plain) || isMonotonous(plain) || words.includes(plain)
}

/** Whether a text repeats up to four characters, or is a sequence such as 12345678. */
function isMonotonous(text: string): boolean {
  if (/^(.{1,4})\1+$/su.test(text)) return true
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0)
  const steps = codes.slice(1).map((code, index) => code - (codes[index] ?? 0))
  return steps.every((step) => step === 1) || steps.every((step) => step === -1)
}
