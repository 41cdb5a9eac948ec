/** Names that both servers, the slots and the command line use on the wire. */
export const CORE_SECRET_HEADER = 'x-core-secret';
export const API_PREFIX = '/api/v1';
export const CONFIG_PATH = `${API_PREFIX}/config`;
export const RESULTS_PATH = `${API_PREFIX}/call-results`;
export const RECORDS_PATH = `${API_PREFIX}/call-records`;
export const SOCKET_PATH = '/ws/';
export const PARTNER_PATH = '/partner/';
export const FLEET_HEALTH_PATH = '/health/fleet';
/** What a host still has of calls; asked by the control plane. */
export const SESSIONS_PATH = '/sessions';
/** Recordings of a host by signed links; below it lies the key of the recording. */
export const RECORDINGS_PATH = '/recordings/';

/** Bot identifiers stand in paths and room names, so their alphabet is small. */
export const BOT_ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;

/** Session ids stand in paths and store keys, too; a dialler may choose them (R85). */
export const SESSION_ID_PATTERN = /^[A-Za-z0-9._:@-]{1,200}$/;
