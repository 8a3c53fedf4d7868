/** Where people make an account. D-9.3. */
export function SignUpPage() {
  return null;
}
