/** What the media server says when it could not dial, and what to look at. First match counts. */
const ADVICE: readonly [RegExp, string][] = [
  [/trunk|object cannot be found|does not exist/i, 'check the outbound trunk that the settings name'],
  [
    /no response|unavailable|no servers/i,
    'check that the SIP service runs and shares the media server’s Redis',
  ],
  [
    /fetch failed|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|socket|aborted|timeout|timed out/i,
    'check the media server',
  ],
  [/auth|credential/i, 'check the user name and password of the outbound trunk'],
  [
    /failed to complete|network|address|dns|lookup/i,
    'check the address of the outbound trunk and the way to it',
  ],
];

/** One sentence for `end_detail.reason`, where a call was not dialled or got no SIP answer. */
export function whyNotDialled(said: string): string {
  const advice = ADVICE.find(([pattern]) => pattern.test(said))?.[1];
  return `no SIP answer: ${said}${advice ? `; ${advice}` : ''}`;
}
