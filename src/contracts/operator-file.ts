/**
 * What the running control plane leaves in its data folder for the command line of the same machine (mode 0600): where
 * it listens and a token that opens it. It is written anew with each start and worth nothing after it.
 */
export const OPERATOR_FILE = 'operator.json';

export interface OperatorFile {
  url: string;
  token: string;
  pid: number;
}
