/** Names that are put together from two others, and regional spellings. Read by known-names.ts, which says how. */
export const COMPOUNDS = `
बाबूलाल babulal baboolal baabulal | सोहनलाल sohanlal | मोतीलाल motilal moteelal mothilal
पन्नालाल pannalal | जवाहरलाल jawaharlal | जवाहर jawahar javahar | किशनलाल kishanlal
कन्हैयालाल kanhaiyalal kanhaiyalall | चुन्नीलाल chunnilal chunilal | मणिलाल manilal | रतनलाल ratanlal
मदनलाल madanlal | बनवारीलाल banwarilal | बनवारी banwari | गिरधारीलाल girdharilal | शंकरलाल shankarlal
मुन्नालाल munnalal | बंसीलाल bansilal | भंवरलाल bhanwarlal | भंवर bhanwar | छोटेलाल chhotelal chotelal
रामकुमार ramkumar | रामकिशन ramkishan | रामअवतार ramavtar | रामपाल rampal | रामनाथ ramnath | रामफल ramphal
रामप्रसाद ramprasad | रामसिंह ramsingh | रामस्वरूप ramswaroop ramswarup | स्वरूप swaroop swarup
रामजीत ramjeet ramjit | रामदयाल ramdayal | रामगोपाल ramgopal | राममोहन rammohan | रामबाई rambai
रामलखन ramlakhan | रामरती ramrati | रामवती ramwati ramvati | राजनाथ rajnath | राजपाल rajpal
राजदीप rajdeep | राजबीर rajbir rajbeer | राजवीर rajveer rajvir raajveer | राजबाला rajbala
राजमोहन rajmohan | राजवर्धन rajvardhan rajwardhan | राजमणि rajmani | राजवती rajwati | राजवंत rajwant
राजलक्ष्मी rajlakshmi rajlaxmi | राजप्रीत rajpreet | देवकुमार devkumar | देवनाथ devnath | देवपाल devpal
देवदत्त devdutt | देवलाल devlal | देवप्रकाश devprakash | देवकरण devkaran | देवनारायण devnarayan
शिवनाथ shivnath sivnath | शिवलाल shivlal | शिवप्रसाद shivprasad sivaprasad shivaprasad sivprasad
शिवनारायण shivnarayan | शिवपाल shivpal | शिवचरण shivcharan
शिवशंकर shivshankar sivasankar sivashankar shivashankar | शिवदास shivdas | शिवराम shivram shivaram sivaram
शिवरतन shivratan | शिवमणि shivmani | जगदेव jagdev | जगपाल jagpal | जगराम jagram
जयपाल jaipal jayapal jaypal | जयकुमार jaikumar jaykumar jayakumar | जयराम jairam jayram | जयचंद jaichand
जयसिंह jaisingh | जयनारायण jaynarayan jainarayan | जयदीप jaydeep jaideep jaydip | जयवंत jaywant jaiwant
जयंतीलाल jayantilal | विजयपाल vijaypal | विजयकुमार vijaykumar
विजयलक्ष्मी vijaylaxmi vijaylakshmi vijayalaxmi | विजयसिंह vijaysingh | विजयराज vijayraj
विनोदकुमार vinodkumar | रमेशकुमार rameshkumar | सुरेशकुमार sureshkumar | राजेशकुमार rajeshkumar
मुकेशकुमार mukeshkumar | रमेशभाई rameshbhai | सुरेशभाई sureshbhai | दिनेशभाई dineshbhai
भरतभाई bharatbhai | महेशभाई maheshbhai | प्रकाशभाई prakashbhai | विजयभाई vijaybhai | अशोकभाई ashokbhai
नरेशभाई nareshbhai | राजूभाई rajubhai | जयेशभाई jayeshbhai | हसमुख hasmukh | हसमुखभाई hasmukhbhai
कांतिभाई kantibhai | कांति kanti | कांतिलाल kantilal | बाबूभाई babubhai | बाबू babu | नारणभाई naranbhai
मंजुलाबेन manjulaben | कोकिलाबेन kokilaben | कोकिला kokila | सीताबेन sitaben | गीताबेन gitaben geetaben
हंसाबेन hansaben | उषाबेन ushaben | सविताबेन savitaben | रेखाबेन rekhaben | लक्ष्मीबाई lakshmibai laxmibai
सीताबाई sitabai | गंगाबाई gangabai | गंगा ganga gunga | कमलाबाई kamlabai kamalabai | पार्वतीबाई parvatibai
शांतिबाई shantibai | आनंदीबाई anandibai | रमाबाई ramabai | सावित्रीबाई savitribai | जीजाबाई jijabai
फूलवती phoolwati phulwati phoolvati | फूलचंद phoolchand phulchand | फूलसिंह phoolsingh phulsingh
कलावती kalawati kalavathi | लीलावती leelawati lilawati leelavathi | पद्मावती padmawati padmavathi
सत्यवती satyawati | रूपवती rupwati roopwati rupvati | धर्मपाल dharmpal dharampal
धर्मवीर dharmveer dharamveer dharamvir | धर्मराज dharamraj dharmraj | धरमसिंह dharamsingh
सत्यपाल satyapal | सत्यप्रकाश satyaprakash | सत्यवीर satyavir satyaveer | सत्यवान satyavan satyawan
सत्यदेव satyadev | चंद्रपाल chandrapal | चंद्रप्रकाश chandraprakash | चंद्रभान chandrabhan
चंद्रकला chandrakala | चंद्रकांता chandrakanta | चंद्रमोहन chandramohan | चंद्रवती chandravati chandrawati
चंद्रमणि chandramani | चंद्रवीर chandraveer | सूर्यप्रकाश suryaprakash | सूर्यभान suryabhan
सूर्यदेव suryadev | प्रेमलता premlata | प्रेमनाथ premnath | प्रेमलाल premlal | प्रेमपाल prempal
प्रेमकुमार premkumar | प्रेमसिंह premsingh | प्रेमवती premwati premvati | हेमचंद hemchand
हेमचंद्र hemchandra | हेमकुमार hemkumar | पुष्पलता pushpalata | पुष्पराज pushpraj
पुष्पावती pushpawati pushpavati | स्वर्णलता swarnlata | मधुलता madhulata | स्नेहलता snehlata snehalata
कनकलता kanaklata | कनक kanak | बलराज balraj | बालकृष्ण balkrishna balakrishna | बालचंद balchand
बालमुकुंद balmukund | बालगोविंद balgovind | बलबहादुर balbahadur | बहादुर bahadur | रामबहादुर rambahadur
हरबहादुर harbahadur | लालबहादुर lalbahadur | लालचंद lalchand | लालजी lalji | लालमणि lalmani
लालसिंह lalsingh | उमाशंकर umashankar | उमाप्रसाद umaprasad | गौरीशंकर gaurishankar | रविशंकर ravishankar
रविकुमार ravikumar | रविकांत ravikant | रविराज raviraj | रविप्रकाश raviprakash | रविनाथ ravinath
रविपाल ravipal | शशिकुमार shashikumar | शशिबाला shashibala | शशिप्रभा shashiprabha
श्यामसुंदर shyamsundar shyamsunder | श्यामकुमार shyamkumar | श्यामनारायण shyamnarayan
श्यामबाबू shyambabu | श्यामनाथ shyamnath | श्यामवती shyamwati | घनश्यामदास ghanshyamdas
किशनचंद kishanchand | किशनदास kishandas | किशनपाल kishanpal | किशनसिंह kishansingh
कृष्णकुमार krishnakumar | कृष्णपाल krishnapal | कृष्णदास krishnadas | कृष्णकांत krishnakant
कृष्णकुमारी krishnakumari | कृष्णवेणी krishnaveni | कृष्णमोहन krishnamohan | कृष्णदेव krishnadev
कृष्णराज krishnaraj | गोपालकृष्ण gopalkrishna | गोपालदास gopaldas | गोपालसिंह gopalsingh
गोपीचंद gopichand | गोविंदराम govindram | गोविंदराज govindraj | गोविंदलाल govindlal | गोविंददास govinddas
गोविंदसिंह govindsingh | हरिशंकर harishankar harishanker | हरिश्चंद्र harishchandra | हरिप्रसाद hariprasad
हरिराम hariram | हरिलाल harilal | हरिनारायण harinarayan | हरिनाथ harinath | हरिदास haridas | हरिओम hariom
हरिकृष्ण harikrishna | हरिकिशन harikishan | हरिपाल haripal | हरिमोहन harimohan | हरिनंदन harinandan
हरसुख harsukh | कालीचरण kalicharan | कालीराम kaliram | काली kali | कालिदास kalidas | लखनलाल lakhanlal
लखनपाल lakhanpal | लक्ष्मीनारायण lakshminarayan laxminarayan | लक्ष्मीकांत lakshmikant laxmikant
लक्ष्मीदेवी lakshmidevi laxmidevi | लक्ष्मीचंद lakshmichand laxmichand
लक्ष्मीप्रिया lakshmipriya laxmipriya | लक्ष्मीप्रसाद lakshmiprasad laxmiprasad
लक्ष्मणदास laxmandas lakshmandas | लक्ष्मणसिंह laxmansingh | मोहनदास mohandas | मोहनसिंह mohansingh
मोहनराम mohanram | मोहनराज mohanraj | मोहनपाल mohanpal | मदनमोहन madanmohan | मदनगोपाल madangopal
मधुकांत madhukant | मधुप्रसाद madhuprasad | मधुमती madhumati | मधुमिता madhumita | मधुस्मिता madhusmita
माणिकचंद manikchand | नंदकुमार nandkumar | नंदराम nandram | नंदगोपाल nandgopal | नवरतन navratan
नवकुमार navkumar | ओंकार onkar onkaar | ओमवती omvati omwati | ओमवीर omveer omvir | ओमपाल ompal
ओमकुमार omkumar | प्रभुदयाल prabhudayal | प्रभुलाल prabhulal | प्रभुनाथ prabhunath | प्रभुराम prabhuram
पूरनचंद puranchand | पूरनसिंह puransingh | पूरनमल puranmal | राधारानी radharani | राधाकांत radhakant
राधामोहन radhamohan | राधेलाल radheylal radhelal | रणजीतसिंह ranjitsingh | रतनचंद ratanchand
रतनसिंह ratansingh | रूपचंद roopchand rupchand | रूपकुमार roopkumar rupkumar | रूपलाल rooplal ruplal
रूपसिंह roopsingh rupsingh | रूपराम roopram rupram | सुखलाल sukhlal | सुखराम sukhram | सुखपाल sukhpal
सुखनंदन sukhnandan | सुखसागर sukhsagar | सुखमणि sukhmani | सुखबाई sukhbai | ताराचंद tarachand taarachand
ताराबाई tarabai | तारावती tarawati taravati | तेजपाल tejpal | तेजराम tejram | तेजनारायण tejnarayan
तेजसिंह tejsingh | तेजबहादुर tejbahadur | टीकाराम tikaram | तुलसीराम tulsiram | तुलसीबाई tulsibai
उदयवीर udayveer udayvir | उदयराज udayraj | उदयसिंह udaysingh | उदयभान udaybhan | वेदप्रकाश vedprakash
वेदपाल vedpal | वेदराम vedram | वेदवती vedvati vedwati | वीरपाल veerpal virpal
वीरसिंह veersingh virsingh | वीरभद्र veerbhadra virbhadra | वीरमती veermati virmati | विश्वपाल vishwapal
विश्वामित्र vishwamitra | विश्वास vishwas | विश्वनाथराव vishwanathrao | यादवराव yadavrao
माधवराव madhavrao | बाबूराव baburao | भीमराव bhimrao | आनंदराव anandrao | गणपतराव ganpatrao | गणपत ganpat
गणपति ganpati ganpathi | नारायणराव narayanrao | वसंतराव vasantrao | यशवंतराव yashwantrao
बलवंतराव balwantrao | शिवाजीराव shivajirao | शंकरराव shankarrao | दत्तात्रय dattatray dattatreya
ज्ञानेश्वर dnyaneshwar gyaneshwar | ज्ञानदेव dnyandev gyandev | ज्ञानप्रकाश gyanprakash
ज्ञानचंद gyanchand | ज्ञानवती gyanwati gyanvati | ज्ञानसिंह gyansingh | अब्दुलकरीम abdulkarim
अब्दुलरहमान abdulrahman | अब्दुलअजीज abdulaziz | अब्दुललतीफ़ abdullatif | अमानुल्लाह amanullah
हबीबुल्लाह habibullah | रहमतुल्लाह rahmatullah | रहमत rahmat | हिदायतुल्लाह hidayatullah | हिदायत hidayat
इनायतुल्लाह inayatullah | असदुल्लाह asadullah | निज़ामुद्दीन nizamuddin | निज़ाम nizam
शमसुद्दीन shamsuddin samsuddin | सिराजुद्दीन sirajuddin | नसीरुद्दीन nasiruddin naseeruddin
जलालुद्दीन jalaluddin | कमालुद्दीन kamaluddin | सलाहुद्दीन salahuddin | मोइनुद्दीन moinuddin
कमरुद्दीन qamaruddin kamruddin | रियाज़ुद्दीन riyazuddin | फ़खरुद्दीन fakhruddin | ज़ैनुद्दीन zainuddin
अज़हरुद्दीन azharuddin | सैफ़ुद्दीन saifuddin | इमामुद्दीन imamuddin | इमाम imam | सैफ़ुल्लाह saifullah
शाहजहां shahjahan shahjahaan | मेहरुन्निसा mehrunnisa mehrunisa | नूरजहां noorjahan nurjahan
नूरुद्दीन nooruddin nuruddin | शहाबुद्दीन shahbuddin shahabuddin | गुलनाज़ gulnaz gulnaaz
गुलबानो gulbano | गुलशनबानो gulshanbano | शाहबानो shahbano | मेहरबानो mehrbano | अमनजोत amanjot
अमनजीत amanjeet amanjit | अमनवीर amanveer amanvir | अमरपाल amarpal | अमरप्रीत amarpreet | अमरवीर amarveer
अमरसिंह amarsingh | अमरदीप amardeep | अमरलाल amarlal | अमरकांत amarkant | बलजोत baljot | बलप्रीत balpreet
चरणदीप charandeep | चरणपाल charanpal | चरणदास charandas | चरणप्रीत charanpreet | दलदीप daldeep
दलप्रीत dalpreet | दलविंदर dalvinder dalwinder | गगनजोत gaganjot | गगनप्रीत gaganpreet | गुरजोत gurjot
गुरपाल gurpal | गुरवीर gurbir gurveer | गुरदेव gurdev | गुरलाल gurlal | गुरसिमरन gursimran
गुरसेवक gursewak | गुरतेज gurtej | हरवीर harbir harveer | हरदेव hardev | हरगुन hargun | हरजोत harjot
हरलाल harlal | हरमनदीप harmandeep | हरमनप्रीत harmanpreet | हरनाम harnam | हरनेक harnek | हरशरण harsharan
जगदीप jagdeep jagdip | जगप्रीत jagpreet | जगविंदर jagwinder | जगवंत jagwant | जगरूप jagroop jagrup
जसजीत jasjeet jasjit | जसजोत jasjot | जसमीत jasmeet jasmit | जसविंदरपाल jaswinderpal | करणदीप karandeep
करणप्रीत karanpreet | करणवीर karanveer karanvir | करणपाल karanpal | करणजीत karanjit karanjeet
किरणदीप kirandeep | किरणपाल kiranpal | किरणजीत kiranjeet kiranjit | किरणप्रीत kiranpreet | कुलदेव kuldev
कुलप्रीत kulpreet | कुलवीर kulvir kulveer | कुलविंदर kulvinder | लखप्रीत lakhpreet | लखजीत lakhjit
लवदीप lovedeep | लवजीत lovejeet | मनदीप mandip | मनवीर manbir manveer manvir | मनजोत manjot
मनविंदर manvinder manwinder | नवजीत navjeet navjit | निर्मलप्रीत nirmalpreet | परमदीप paramdeep
परमवीर paramveer paramvir | परमप्रीत parampreet | परमपाल parampal | प्रभजीत prabhjeet prabhjit
प्रभप्रीत prabhpreet | प्रभलीन prabhleen | प्रीतपाल pritpal | राजदेव rajdev | राजविंदर rajvinder
रमनजीत ramanjeet ramanjit | रमनप्रीत ramanpreet | रणविंदर ranvinder | रूपदीप rupdeep roopdeep
संदीपपाल sandeeppal | सरबप्रीत sarabpreet | सतवीर satbir satvir satveer | सतनामसिंह satnamsingh
सतविंदर satvinder satwinder | सिमरनप्रीत simranpreet | सिमरनदीप simrandeep | सुखदीपक sukhdeepak
सुखजोत sukhjot | सुखमीत sukhmeet | सुखवीर sukhvir sukhveer | सुरिंदरपाल surinderpal | सुरजोत surjot
तरनजीत taranjeet taranjit | तरनप्रीत taranpreet | तेजवीर tejbir tejveer | तेजप्रीत tejpreet
वरिंदरपाल varinderpal | यादविंदर yadwinder | अरुणकुमार arunkumar | अनिलकुमार anilkumar
अशोककुमार ashokkumar | अजयकुमार ajaykumar | सुनीलकुमार sunilkumar | संजयकुमार sanjaykumar
संतोषकुमार santoshkumar | दिनेशकुमार dineshkumar | मनोजकुमार manojkumar | सतीशकुमार satishkumar
सेंथिलकुमार senthilkumar | मुथुकुमार muthukumar | प्रभाकरराव prabhakarrao
नागेश्वरराव nageswararao nageshwararao | वेंकटेश्वरलू venkateswarlu
वेंकटेश्वर venkateswara venkateshwara | वेंकटलक्ष्मी venkatalakshmi | वेंकटराव venkatrao
सुब्रमणि subramani | नागलक्ष्मी nagalakshmi | नागमणि nagamani | नागरत्ना nagaratna
नागभूषण nagabhushan nagabhushana | राज्यलक्ष्मी rajyalakshmi rajyalaxmi | वरलक्ष्मी varalakshmi varalaxmi
भाग्यलक्ष्मी bhagyalakshmi bhagyalaxmi | महालक्ष्मी mahalaxmi | जयलक्ष्मी jayalaxmi
जयचंद्रन jayachandran | जयप्रकाश jayaprakash | विजयराघवन vijayaraghavan | विजयेंद्रन vijayendran
सुंदरराजन sundararajan | सुंदरेशन sundaresan | सौंदरराजन soundararajan | वेणुगोपालन venugopalan
गोपीनाथन gopinathan | रघुनाथन raghunathan | जगन्नाथन jagannathan | लोगनाथन loganathan | रविंद्रन ravindran
सुरेंद्रन surendran | महेंद्रन mahendran | नरेंद्रन narendran | गजेंद्रन gajendran | राजकुमारन rajkumaran
शिवाजी sivaji | सुनीता suneetha | संगीता sangeetha sangitha | अनीता anitha | गीता geetha githa
सीता seetha sitha | सरिता saritha | सविता savitha | सुमित्रा sumithra | चित्रा chithra | गायत्री gayathri
सावित्री savithri | आरती arathi arathy | ज्योति jyothi jothi | कीर्ति keerthi kirthi
प्रीति preethi prithi | दीप्ति deepthi dipthi | भारती bharathi | पार्वती parvathi parvathy
सरस्वती saraswathi saraswathy | मालती malathi malathy | रेवती revathi revathy | अश्विनी aswini
अश्विन aswin | रम्या ramya | रम्याश्री ramyasri | सौम्याश्री soumyasri | दिव्याश्री divyasri divyasree
अनुश्री anusri anusree anushree | जयश्री jayasri jayasree | राजश्री rajasri rajasree rajashree
भाग्यश्री bhagyasri bhagyasree | धनश्री dhanasree | तनुश्री tanusree | मधुश्री madhusree madhushree
देबाश्री debasree debashree | देबारती debarati | देबेंद्र debendra | देबराज debraj | देबदास debdas
देबब्रत debabrata | शुभश्री subhashree subhasree | शुभजीत subhajit subhajeet shubhajit | शुभम subham
शुभेंदु subhendu | सुखेंदु sukhendu | पूर्णेंदु purnendu | दिब्येंदु dibyendu | बिमल bimal
बिमलेंदु bimalendu | निर्मलेंदु nirmalendu | कमलेंदु kamalendu | अमलेंदु amalendu | अमल amal
बिकाश bikash | बिप्लब biplab | बिस्वजीत biswajit biswajeet | बिस्वनाथ biswanath | बिनोद binod | बिनय binay
बिपिन bipin | बिद्युत bidyut | बिधान bidhan | भोलानाथ bholanath | भोलाराम bholaram | बद्रीनाथ badrinath
बद्रीप्रसाद badriprasad | केदारनाथ kedarnath | अमरनाथसिंह amarnathsingh | दीनानाथ dinanath deenanath
वैजनाथ vaijnath | बैजनाथ baijnath | त्रिलोकीनाथ trilokinath | त्रिलोकचंद trilokchand | लोकेंद्र lokendra
लोकनाथ loknath | लोकपाल lokpal | जोगेंद्र jogendra | जोगेश jogesh | जुगलकिशोर jugalkishore jugalkishor
बृजमोहन brijmohan | बृजलाल brijlal | बृजकिशोर brijkishore brijkishor | बृजभूषण brijbhushan
बृजनंदन brijnandan | बृजपाल brijpal | इंद्रजीत indrajeet indrajit | इंद्रपाल indrapal | इंद्रदेव indradev
इंद्रावती indravati indrawati | इंद्रकुमार indrakumar | इंद्रेश indresh | धर्मनाथ dharmnath
धर्मावती dharmavati dharmawati | धनपाल dhanpal | धनलाल dhanlal | धनवंती dhanwanti dhanvanti | धनपत dhanpat
धनीराम dhaniram | गयाप्रसाद gayaprasad | गजराज gajraj | गजपाल gajpal | गणेशराम ganeshram
गणेशप्रसाद ganeshprasad | गणेशन ganeshan | गंगाधर gangadhar | गंगाप्रसाद gangaprasad | गंगादेवी gangadevi
जमनालाल jamnalal | जमुनाप्रसाद jamunaprasad | कैलाशनाथ kailashnath | कैलाशचंद kailashchand
कैलाशचंद्र kailashchandra | कमलकिशोर kamalkishore kamalkishor | कमलनाथ kamalnath
कमलजीत kamaljeet kamaljit | कमलप्रीत kamalpreet | कमलदीप kamaldeep | कमलनयन kamalnayan
महेशचंद maheshchand | महेशचंद्र maheshchandra | सुरेशचंद्र sureshchandra | सुरेशचंद sureshchand
रमेशचंद rameshchand | रमेशचंद्र rameshchandra | दिनेशचंद्र dineshchandra | उमेशचंद्र umeshchandra
गणेशचंद्र ganeshchandra | सुभाषचंद्र subhashchandra | सुभाषचंद subhashchand | जगदीशचंद्र jagdishchandra
जगदीशप्रसाद jagdishprasad | जगदीशलाल jagdishlal | प्रकाशचंद prakashchand | प्रकाशचंद्र prakashchandra
प्रकाशनारायण prakashnarayan | जयप्रकाशनारायण jaiprakashnarayan | राजेंद्रप्रसाद rajendraprasad
राजेंद्रकुमार rajendrakumar | महेंद्रकुमार mahendrakumar | महेंद्रसिंह mahendrasingh
नरेंद्रसिंह narendrasingh | सुरेंद्रसिंह surendrasingh | वीरेंद्रसिंह virendrasingh
राजेंद्रसिंह rajendrasingh | धर्मेंद्रसिंह dharmendrasingh | जितेंद्रसिंह jitendrasingh
भूपेंद्रसिंह bhupendrasingh | महेंद्रपाल mahendrapal | सुरेंद्रपाल surendrapal | नरेंद्रपाल narendrapal
योगेंद्रसिंह yogendrasingh | देवेंद्रसिंह devendrasingh | भास्करराव bhaskarrao | सुदर्शनलाल sudarshanlal
सोमदेव somdev | सोमपाल sompal | सोमप्रकाश somprakash | सोमदत्त somdutt | गुप्ताजी guptaji
शर्माजी sharmaji | वर्माजी vermaji | देवीदास devidas | देवीप्रसाद deviprasad | देवीलाल devilal
देवीसिंह devisingh | देवीराम deviram | देवीदयाल devidayal | दीनदयालन deendayalan
दुर्गाप्रसाद durgaprasad | दुर्गादास durgadas | दुर्गादेवी durgadevi | दुर्गावती durgawati durgavati
कालीप्रसाद kaliprasad | मातादीन matadin | माताप्रसाद mataprasad | भगवानदास bhagwandas
भगवती bhagwati bhagvati | भगवानसिंह bhagwansingh | भगवानलाल bhagwanlal | भागीरथी bhagirathi
शांताराम shantaram | शांताबाई shantabai | शांतिलाल shantilal | शांतिदेवी shantidevi | शांतिनाथ shantinath
शांतिप्रसाद shantiprasad | संतलाल santlal | संतप्रसाद santprasad | संतबहादुर santbahadur
संतकुमार santkumar | सीतादेवी sitadevi | सीताकुमारी sitakumari | सावित्रीदेवी savitridevi
सरस्वतीबाई saraswatibai | सरस्वतीदेवी saraswatidevi | उर्मिलादेवी urmiladevi | सुशीलादेवी sushiladevi
निर्मलादेवी nirmaladevi | विमलादेवी vimladevi | कमलादेवी kamladevi | गीतादेवी geetadevi gitadevi
सुनीतादेवी sunitadevi | अनीतादेवी anitadevi | मीनादेवी meenadevi | पुष्पादेवी pushpadevi
रेखादेवी rekhadevi | आशाराम asharam asaram | आशालता ashalata | आशादेवी ashadevi | हेमवती hemwati hemvati
मनमती manmati | मोहनबाई mohanbai | राजाबाई rajabai | राजेश्वर rajeshwar | कामेश्वर kameshwar
कमलेश्वर kamleshwar | नंदेश्वर nandeshwar | जगदीश्वर jagdeeshwar jagdishwar | ज्ञानेश्वरी gyaneshwari
भुवनेश्वर bhuvaneshwar | सोमेश्वर someshwar | मुक्तेश्वर mukteshwar | रत्नेश्वर ratneshwar
रत्नेश ratnesh | रत्नाकर ratnakar | दिवाकर diwakar divakar | करुणाकर karunakar | करुणाकरन karunakaran
दिवाकरन divakaran | सुकेश sukesh | सुधेश sudhesh | सोमेश somesh | कामेश kamesh | रमेशा ramesha
निमिष nimish | रूपेंद्र rupendra roopendra | पुष्पेश pushpesh | ज्ञानेश gyanesh | मिथिलेश mithilesh
कमलेश kamalesh | विमलेश vimlesh vimalesh | निर्मलेश nirmalesh | अखिलेंद्र akhilendra | अमरेंद्र amarendra
अमरेश amaresh | गणेंद्र ganendra | गोपेंद्र gopendra | हरेंद्र harendra | हरेश haresh | हेमेंद्र hemendra
हेमेश hemesh | जगेंद्र jagendra | जयेंद्र jayendra | जिनेंद्र jinendra | जिनेश jinesh | कामेंद्र kamendra
खगेंद्र khagendra | क्षितेंद्र kshitendra | मदनेश madanesh | मनेंद्र manendra | महेंद्री mahendri
मुनेंद्र munendra munindra | मुनेश munesh | मृत्युंजय mritunjay mrityunjay | नृपेंद्र nripendra
ओमेंद्र omendra | फणींद्र phanindra phanendra | प्रभेश prabhesh | प्रेमेंद्र premendra
राघवेंद्र raghvendra | राजनंदन rajnandan | रघुनंदन raghunandan | रघुराज raghuraj | रघुबीर raghubir
रघुपति raghupati | रणेंद्र ranendra | रोहिताश rohitash | रुद्रप्रताप rudrapratap | रुद्रेश rudresh
समरेंद्र samarendra | समर samar | सर्वेंद्र sarvendra | शिशुपाल shishupal | शोभनाथ shobhnath
शुभेंद्र shubhendra | शुभकरण shubhkaran | श्यामेंद्र shyamendra | सोमेंद्र somendra | सुखेंद्र sukhendra
तेजेंद्र tejendra | त्रिलोकेश trilokesh | उदयेंद्र udayendra | वेदेंद्र vedendra | विनयेंद्र vinayendra
यशोधन yashodhan | यशोवर्धन yashovardhan | सूर्यप्रताप suryapratap | भानुप्रताप bhanupratap
चंद्रप्रताप chandrapratap | विजयप्रताप vijaypratap | रामप्रताप ramapratap rampratap | राजप्रताप rajpratap
वीरप्रताप virpratap | महाप्रताप mahapratap | महासिंह mahasingh | महाराज maharaj | महाराजसिंह maharajsingh
भैरव bhairav | भैरवनाथ bhairavnath | लक्ष्मीनारायणा lakshminarayana laxminarayana | फ़ूलवती foolwati
फ़ूलचंद foolchand
`;
