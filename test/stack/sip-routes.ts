import { SipClient } from 'livekit-server-sdk';
import type { StackAddresses } from './start-stack.ts';
import type { Test } from './use-stack.ts';

/** An outbound trunk to a peer at `host:port`, over UDP; deleted when the test is over. Resolves with its id. */
export async function outboundTrunkTo(
  t: Test,
  stack: StackAddresses,
  peerAddress: string,
  numbers: string[] = ['+15550000000'],
): Promise<string> {
  const sip = sipClient(stack);
  const trunk = await sip.createSipOutboundTrunk(`to ${peerAddress}`, peerAddress, numbers, {
    transport: UDP,
  });
  t.teardown(() => sip.deleteSipTrunk(trunk.sipTrunkId).catch(() => undefined));
  return trunk.sipTrunkId;
}

/** SIPTransport.SIP_TRANSPORT_UDP of the server's protocol. */
const UDP = 1;

export interface InboundRoute {
  /** Calls to this number go into the room. */
  number: string;
  room: string;
  /** Of the SIP participant. */
  attributes?: Record<string, string>;
  /** Which header of the INVITE becomes which attribute of the SIP participant. */
  headersToAttributes?: Record<string, string>;
}

/** An inbound trunk for one number with a rule that leads into one room; both are deleted when the test is over. */
export async function inboundRouteTo(t: Test, stack: StackAddresses, route: InboundRoute): Promise<void> {
  const sip = sipClient(stack);
  const trunk = await sip.createSipInboundTrunk(`for ${route.number}`, [route.number], {
    allowedAddresses: ['127.0.0.1/32'],
    ...(route.headersToAttributes ? { headersToAttributes: route.headersToAttributes } : {}),
  });
  t.teardown(() => sip.deleteSipTrunk(trunk.sipTrunkId).catch(() => undefined));
  const rule = await sip.createSipDispatchRule(
    { type: 'direct', roomName: route.room },
    {
      name: `into ${route.room}`,
      trunkIds: [trunk.sipTrunkId],
      ...(route.attributes ? { attributes: route.attributes } : {}),
    },
  );
  t.teardown(() => sip.deleteSipDispatchRule(rule.sipDispatchRuleId).catch(() => undefined));
}

function sipClient(stack: StackAddresses): SipClient {
  return new SipClient(stack.url, stack.apiKey, stack.apiSecret);
}
