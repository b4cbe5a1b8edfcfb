package diagnosis

// What the server said, behind an explanation.
var (
	saidWithCode = sentences{
		es: "El servidor dijo: «WORDS» (código CODE).",
		en: "The server said: “WORDS” (code CODE).",
		pt: "O servidor disse: “WORDS” (código CODE).",
	}
	saidWithoutCode = sentences{
		es: "El servidor dijo: «WORDS».",
		en: "The server said: “WORDS”.",
		pt: "O servidor disse: “WORDS”.",
	}
	saidNothing = sentences{
		es: "El servidor respondió con el código CODE.",
		en: "The server replied with code CODE.",
		pt: "O servidor respondeu com o código CODE.",
	}
)

// explanations say of each cause what happened and what to do about it.
var explanations = map[Cause]sentences{
	Accepted: {
		es: "El servidor aceptó el mensaje. Si no aparece en la bandeja de entrada, conviene revisar la carpeta de correo no deseado.",
		en: "The server accepted the message. If it does not appear in the inbox, check the spam folder.",
		pt: "O servidor aceitou a mensagem. Se ela não aparecer na caixa de entrada, convém olhar a pasta de spam.",
	},
	HostNotFound: {
		es: "No se encontró el servidor de correo por su nombre. Conviene verificar que el nombre esté bien escrito en la configuración.",
		en: "No mail server was found by that name. Check that the server name in the settings is spelt correctly.",
		pt: "Não foi encontrado um servidor de e-mail com esse nome. Convém verificar se o nome está escrito corretamente na configuração.",
	},
	ConnectionRefused: {
		es: "El servidor rechazó la conexión: en ese puerto no atiende ningún servicio." +
			" Conviene verificar el nombre del servidor y el puerto (habitualmente, 587 o 465);" +
			" si antes funcionaba, el servicio puede estar detenido.",
		en: "The server refused the connection: nothing is listening on that port." +
			" Check the server name and the port (usually 587 or 465); if it used to work, the service may be down.",
		pt: "O servidor recusou a conexão: nenhum serviço atende nessa porta." +
			" Convém verificar o nome do servidor e a porta (normalmente, 587 ou 465);" +
			" se antes funcionava, o serviço pode estar parado.",
	},
	Unreachable: {
		es: "No se pudo llegar por la red hasta el servidor de correo. Conviene verificar el nombre del servidor" +
			" y consultar a quien administra la red, porque la salida puede estar bloqueada.",
		en: "The mail server cannot be reached over the network. Check the server name," +
			" and ask whoever runs the network whether outgoing connections are blocked.",
		pt: "Não foi possível chegar pela rede até o servidor de e-mail. Convém verificar o nome do servidor" +
			" e consultar quem administra a rede, porque a saída pode estar bloqueada.",
	},
	Timeout: {
		es: "No hubo respuesta a tiempo. Si este servidor nunca funcionó, conviene verificar su nombre y el puerto;" +
			" si antes funcionaba, conviene intentar de nuevo más tarde.",
		en: "There was no answer in time. If this server has never worked, check its name and port;" +
			" if it used to work, try again later.",
		pt: "Não houve resposta a tempo. Se este servidor nunca funcionou, convém verificar o nome e a porta;" +
			" se antes funcionava, convém tentar de novo mais tarde.",
	},
	NotAMailServer: {
		es: "Hubo conexión, pero en ese puerto no respondió un servidor de correo con el cifrado elegido." +
			" Conviene revisar el puerto y el tipo de cifrado: habitualmente, el puerto 587 si el cifrado empieza después del saludo (STARTTLS)" +
			" y el 465 si la conexión está cifrada desde el comienzo (TLS).",
		en: "Something answered the connection, but not a mail server that uses the chosen kind of encryption." +
			" Check the port and the kind of encryption: usually port 587 where encryption starts after the greeting (STARTTLS)," +
			" and 465 where the connection is encrypted from the start (TLS).",
		pt: "Houve conexão, mas nessa porta não respondeu um servidor de e-mail com a criptografia escolhida." +
			" Convém revisar a porta e o tipo de criptografia: normalmente, a porta 587 se a criptografia começa depois da saudação (STARTTLS)" +
			" e a 465 se a conexão é criptografada desde o início (TLS).",
	},
	ServerClosed: {
		es: "El servidor no atendió la conexión o la cortó, y el mensaje no se entregó. Conviene intentar de nuevo más tarde;" +
			" si se repite, conviene preguntar al proveedor del correo si rechaza estas conexiones.",
		en: "The server turned the connection away or cut it off, and the message was not delivered. Try again later;" +
			" if it happens again, ask the mail provider whether it rejects these connections.",
		pt: "O servidor não atendeu a conexão ou a interrompeu, e a mensagem não foi entregue. Convém tentar de novo mais tarde;" +
			" se acontecer de novo, convém perguntar ao provedor de e-mail se ele rejeita essas conexões.",
	},
	EncryptionMissing: {
		es: "El servidor no ofrece en ese puerto un cifrado que se pueda usar (STARTTLS), y sin cifrado no se envía nada." +
			" Conviene probar con la conexión cifrada desde el comienzo (TLS, habitualmente en el puerto 465)" +
			" o preguntar al proveedor del correo qué puerto y qué cifrado corresponden.",
		en: "The server does not offer encryption that can be used on that port (STARTTLS), and nothing is sent without encryption." +
			" Try a connection that is encrypted from the start (TLS, usually on port 465)," +
			" or ask the mail provider which port and encryption to use.",
		pt: "O servidor não oferece nessa porta uma criptografia que possa ser usada (STARTTLS), e nada é enviado sem criptografia." +
			" Convém tentar com a conexão criptografada desde o início (TLS, normalmente na porta 465)" +
			" ou perguntar ao provedor de e-mail qual porta e qual criptografia usar.",
	},
	EncryptionFailed: {
		es: "El servidor interrumpió el acuerdo para cifrar la conexión." +
			" Conviene preguntar al proveedor del correo qué cifrado admite: hace falta la versión TLS 1.2 o una posterior.",
		en: "The server broke off while encryption was being set up." +
			" Ask the mail provider what encryption it supports: TLS version 1.2 or later is needed.",
		pt: "O servidor interrompeu o acordo para criptografar a conexão." +
			" Convém perguntar ao provedor de e-mail qual criptografia ele aceita: é necessária a versão TLS 1.2 ou posterior.",
	},
	EncryptionRequired: {
		es: "El servidor exige una conexión cifrada. Conviene elegir un cifrado en la configuración:" +
			" habitualmente, STARTTLS con el puerto 587 o TLS con el puerto 465.",
		en: "The server requires an encrypted connection. Choose an encryption in the settings:" +
			" usually STARTTLS with port 587, or TLS with port 465.",
		pt: "O servidor exige uma conexão criptografada. Convém escolher uma criptografia na configuração:" +
			" normalmente, STARTTLS com a porta 587 ou TLS com a porta 465.",
	},
	CertificateExpired: {
		es: "El certificado que identifica al servidor está vencido o todavía no es válido. Quien administra el servidor tiene que renovarlo.",
		en: "The certificate that identifies the server has expired or is not valid yet. Whoever runs the server has to renew it.",
		pt: "O certificado que identifica o servidor está vencido ou ainda não é válido. Quem administra o servidor precisa renová-lo.",
	},
	CertificateName: {
		es: "El certificado que identifica al servidor corresponde a otro nombre." +
			" Conviene escribir en la configuración el nombre exacto que indica el proveedor del correo.",
		en: "The certificate that identifies the server is made out to another name." +
			" Enter exactly the server name that the mail provider gives.",
		pt: "O certificado que identifica o servidor corresponde a outro nome." +
			" Convém escrever na configuração o nome exato indicado pelo provedor de e-mail.",
	},
	CertificateUntrusted: {
		es: "No se pudo confirmar que el servidor sea el verdadero: su certificado no proviene de una autoridad reconocida." +
			" Conviene verificar el nombre del servidor; si es correcto, quien lo administra tiene que instalar otro certificado.",
		en: "The server could not be confirmed to be the real one: its certificate does not come from a recognised authority." +
			" Check the server name; if it is correct, whoever runs the server has to install another certificate.",
		pt: "Não foi possível confirmar que o servidor é o verdadeiro: o certificado dele não vem de uma autoridade reconhecida." +
			" Convém verificar o nome do servidor; se estiver correto, quem o administra precisa instalar outro certificado.",
	},
	PasswordRefused: {
		es: "El servidor no aceptó el usuario o la contraseña. Conviene revisarlos;" +
			" algunos proveedores exigen una contraseña de aplicación, o habilitar antes el envío desde otras aplicaciones (SMTP).",
		en: "The server did not accept the user name or the password. Check both;" +
			" some providers require an app password, or sending from other applications (SMTP) to be switched on first.",
		pt: "O servidor não aceitou o usuário ou a senha. Convém revisá-los;" +
			" alguns provedores exigem uma senha de aplicativo, ou ativar antes o envio a partir de outros aplicativos (SMTP).",
	},
	LoginUnavailable: {
		es: "Con esta configuración no se puede iniciar sesión en el servidor: la conexión no está cifrada," +
			" o el servidor no admite el inicio de sesión con usuario y contraseña. Conviene activar el cifrado y revisar el puerto;" +
			" si el servidor no pide contraseña, conviene dejar vacíos el usuario y la contraseña.",
		en: "These settings do not allow logging in to the server: the connection is not encrypted," +
			" or the server does not support logging in with a user name and password. Switch encryption on and check the port;" +
			" if the server asks for no password, leave the user name and password empty.",
		pt: "Com esta configuração não é possível entrar no servidor: a conexão não é criptografada," +
			" ou o servidor não aceita o acesso com usuário e senha. Convém ativar a criptografia e revisar a porta;" +
			" se o servidor não pede senha, convém deixar vazios o usuário e a senha.",
	},
	LoginRequired: {
		es: "El servidor exige iniciar sesión antes de enviar. Conviene completar el usuario y la contraseña en la configuración.",
		en: "The server requires a login before it takes messages. Enter the user name and password in the settings.",
		pt: "O servidor exige autenticação antes do envio. Convém preencher o usuário e a senha na configuração.",
	},
	SenderNotAllowed: {
		es: "El servidor no permite enviar desde la dirección del remitente." +
			" Conviene verificar que esté bien escrita y que el proveedor del correo la tenga habilitada para esta cuenta.",
		en: "The server does not allow sending from the sender's address." +
			" Check that it is spelt correctly and that the mail provider has enabled it for this account.",
		pt: "O servidor não permite enviar a partir do endereço do remetente." +
			" Convém verificar se está escrito corretamente e se o provedor de e-mail o habilitou para esta conta.",
	},
	SenderUnproven: {
		es: "El mensaje se rechazó porque no se pudo comprobar que el dominio del remitente autoriza este envío (SPF, DKIM o DMARC)." +
			" Quien administra el dominio tiene que completar esos registros con los datos que da el proveedor del correo.",
		en: "The message was rejected because there is no proof that the sender's domain permits it (SPF, DKIM or DMARC)." +
			" Whoever manages the domain has to set up those records with the values that the mail provider gives.",
		pt: "A mensagem foi rejeitada porque não foi possível comprovar que o domínio do remetente autoriza este envio (SPF, DKIM ou DMARC)." +
			" Quem administra o domínio precisa completar esses registros com os dados fornecidos pelo provedor de e-mail.",
	},
	RelayDenied: {
		es: "Con esta configuración, el servidor no acepta mensajes para otros dominios." +
			" Conviene completar el usuario y la contraseña, y verificar que la dirección del remitente pertenezca a este servidor.",
		en: "With these settings, the server does not take messages for other domains." +
			" Enter the user name and password, and check that the sender's address belongs to this server.",
		pt: "Com esta configuração, o servidor não aceita mensagens para outros domínios." +
			" Convém preencher o usuário e a senha, e verificar se o endereço do remetente pertence a este servidor.",
	},
	Blocked: {
		es: "El envío está bloqueado: el servidor o el dominio desde el que sale figura en una lista de bloqueo, tiene mala reputación o está suspendido." +
			" Conviene pedir al proveedor del correo que revise el bloqueo.",
		en: "Sending is blocked: the server or domain it comes from is on a block list, has a bad reputation or is suspended." +
			" Ask the mail provider to look into the block.",
		pt: "O envio está bloqueado: o servidor ou o domínio de onde ele sai está em uma lista de bloqueio, tem má reputação ou foi desativado." +
			" Convém pedir ao provedor de e-mail que verifique o bloqueio.",
	},
	TooMany: {
		es: "Se alcanzó el límite de envíos o de conexiones que permite el servidor. Conviene esperar antes de enviar más;" +
			" si se repite, conviene consultar el límite con el proveedor del correo.",
		en: "The server's limit of messages or connections has been reached. Wait before sending more;" +
			" if it happens again, ask the mail provider about the limit.",
		pt: "Foi atingido o limite de envios ou de conexões que o servidor permite. Convém esperar antes de enviar mais;" +
			" se acontecer de novo, convém consultar o limite com o provedor de e-mail.",
	},
	RecipientRefused: {
		es: "La dirección del destinatario no existe, no recibe mensajes o está mal escrita. Conviene verificarla con esa persona y corregirla.",
		en: "The recipient's address does not exist, does not take messages or is misspelt. Check it with that person and correct it.",
		pt: "O endereço do destinatário não existe, não recebe mensagens ou está escrito incorretamente." +
			" Convém verificá-lo com essa pessoa e corrigi-lo.",
	},
	MailboxFull: {
		es: "El buzón del destinatario está lleno. Conviene avisarle por otro medio e intentar de nuevo más tarde.",
		en: "The recipient's mailbox is full. Let them know in another way, and try again later.",
		pt: "A caixa de correio do destinatário está cheia. Convém avisá-lo por outro meio e tentar de novo mais tarde.",
	},
	MessageRefused: {
		es: "El servidor rechazó el mensaje por su contenido o por reglas propias; por ejemplo, porque le parece correo no deseado." +
			" Conviene revisar el asunto, el texto, los enlaces y los archivos adjuntos.",
		en: "The server rejected the message because of its content or by rules of its own; for example, because it looks like spam." +
			" Review the subject, the text, the links and the attachments.",
		pt: "O servidor rejeitou a mensagem pelo conteúdo ou por regras próprias; por exemplo, porque parece spam." +
			" Convém revisar o assunto, o texto, os links e os anexos.",
	},
	MessageInvalid: {
		es: "No se pudo armar el mensaje: le falta el texto o tiene datos que un correo no admite." +
			" Conviene revisar el asunto, la plantilla y los archivos adjuntos.",
		en: "The message could not be put together: its text is missing, or it holds data that an e-mail cannot carry." +
			" Review the subject, the template and the attachments.",
		pt: "Não foi possível montar a mensagem: falta o texto ou há dados que um e-mail não admite." +
			" Convém revisar o assunto, o modelo e os anexos.",
	},
	TooLarge: {
		es: "El mensaje es más grande de lo que el servidor acepta. Conviene reducir o quitar archivos adjuntos.",
		en: "The message is larger than the server accepts. Make attachments smaller, or leave some out.",
		pt: "A mensagem é maior do que o servidor aceita. Convém reduzir ou retirar anexos.",
	},
	ServerBusy: {
		es: "El servidor no puede recibir el mensaje en este momento. Conviene intentar de nuevo más tarde, sin cambiar nada.",
		en: "The server cannot take the message at the moment. Try again later; nothing needs to be changed.",
		pt: "O servidor não pode receber a mensagem neste momento. Convém tentar de novo mais tarde, sem mudar nada.",
	},
	OutcomeUnknown: {
		es: "El mensaje se transmitió completo, pero el servidor no confirmó si lo recibió: puede haber llegado." +
			" Antes de enviarlo otra vez conviene comprobarlo con el destinatario, para que no le llegue dos veces.",
		en: "The whole message was transmitted, but the server did not confirm whether it took it: it may have arrived." +
			" Ask the recipient before sending it again, lest it arrive twice.",
		pt: "A mensagem foi transmitida por completo, mas o servidor não confirmou se a recebeu: ela pode ter chegado." +
			" Antes de enviá-la outra vez, convém confirmar com o destinatário, para que não chegue duas vezes.",
	},
	Cancelled: {
		es: "El envío se interrumpió antes de completarse, y el mensaje no salió. Se puede enviar de nuevo sin riesgo de que llegue dos veces.",
		en: "Sending was interrupted before it was complete, and the message did not go out." +
			" It can be sent again without any risk of arriving twice.",
		pt: "O envio foi interrompido antes de terminar, e a mensagem não saiu. Ela pode ser enviada de novo sem risco de chegar duas vezes.",
	},
	IntegrationInvalid: {
		es: "Falta la configuración del servidor de correo, o tiene datos incorrectos. Conviene completarla y probarla.",
		en: "The mail server's settings are missing or incorrect. Complete them and test them.",
		pt: "Falta a configuração do servidor de e-mail, ou ela tem dados incorretos. Convém completá-la e testá-la.",
	},
	Other: {
		es: "El envío falló por un motivo que no se pudo determinar. Conviene intentar de nuevo más tarde;" +
			" si se repite, conviene avisar a quien administra el sistema.",
		en: "Sending failed for a reason that could not be determined. Try again later;" +
			" if it happens again, tell whoever runs the system.",
		pt: "O envio falhou por um motivo que não foi possível determinar. Convém tentar de novo mais tarde;" +
			" se acontecer de novo, convém avisar quem administra o sistema.",
	},
}
