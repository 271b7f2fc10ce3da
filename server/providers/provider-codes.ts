/** Whether a provider's code is about the gateway's own account, of which a client must not hear. */
export function aboutOurAccount(code: string): boolean {
  return /^(invalid_?api_?key|access_?denied|unauthorized|permission|arrearage|insufficient_?(user_)?quota)/i.test(
    code,
  );
}

/** Whether a provider's code means that it takes no more for now. */
export function isThrottling(code: string): boolean {
  return /^(throttling|rate_?limit|too_?many)/i.test(code);
}

/** Whether a provider's code blames the text or a parameter of the client. */
export function blamesClient(code: string): boolean {
  return /^(invalid|bad_?request|data_?inspection|unsupported|empty)/i.test(code);
}
